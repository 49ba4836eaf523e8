// The connection to the server: requests, and the stream of events.

export async function api(path, options = {}) {
  const patience = AbortSignal.timeout(30_000);
  const signal = options.signal ? AbortSignal.any([options.signal, patience]) : patience;
  const response = await fetch('/api/v1/' + path, {cache: 'no-store', ...options, signal});
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ? value.error.message : response.statusText);
  return value;
}

// Calls `onChange({state, error, version, …})` at each listing of the store, and with the state
// 'reconnecting' while the server does not answer. A page that is not visible hears nothing: a browser has six connections to
// a server, for all its tabs.
export function listen(onChange) {
  let source = null;
  const open = () => {
    if (document.hidden || source) return;
    source = new EventSource('/api/v1/stream');
    source.addEventListener('message', (event) => onChange(JSON.parse(event.data)));
    source.addEventListener('error', () => {
      onChange({state: 'reconnecting'});
      // The browser tries again by itself, unless the server answered with an error.
      if (source && source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(open, 1000);
      }
    });
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden && source) {
      source.close();
      source = null;
    }
    open();
  });
  open();
}
