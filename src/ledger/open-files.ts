// The ledger files that this process has open. Closing any descriptor of such a file drops the locks that SQLite holds on it in
// this process (fcntl(2)), so code that reads files for others asks here first.

/** By real path, how often each is open. */
const open = new Map<string, number>()

/** Takes note of an open ledger; returns what is called when it has been closed. */
export function noteOpenLedger(realPath: string): () => void {
  open.set(realPath, (open.get(realPath) ?? 0) + 1)
  return () => {
    const left = (open.get(realPath) ?? 1) - 1
    if (left === 0) open.delete(realPath)
    else open.set(realPath, left)
  }
}

/** Is it an open ledger, or one of the files that SQLite and instance locks keep beside it? */
export function isOpenLedgerFile(realPath: string): boolean {
  for (const ledger of open.keys()) if (realPath === ledger || realPath.startsWith(`${ledger}-`)) return true
  return false
}
