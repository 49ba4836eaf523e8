// Changes, which a server with --admin-token-file allows.

export async function adminButtons() {
  return [];
}
