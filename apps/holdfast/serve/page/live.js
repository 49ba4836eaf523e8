// The connection to the server: requests, and the stream of events.

export async function api(path, options = {}) {
  const response = await fetch('/api/v1/' + path, {cache: 'no-store', ...options});
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ? value.error.message : response.statusText);
  return value;
}

// Calls `onChange({state, error, version, …})` at each listing of the store, and with the state
// 'reconnecting' while the server does not answer.
export function listen(onChange) {
  const source = new EventSource('/api/v1/stream');
  source.addEventListener('message', (event) => onChange(JSON.parse(event.data)));
  source.addEventListener('error', () => {
    onChange({state: 'reconnecting'});
    // The browser tries again by itself, unless the server answered with an error.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(onChange), 1000);
  });
}
