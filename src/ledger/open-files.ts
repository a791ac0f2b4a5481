// The ledger files that this process has open. Closing any descriptor of such a file drops the locks that SQLite holds on it in this
// process (fcntl(2)), so code that reads files for others checks this list first.

/** How often each file is open, by real path. */
const open = new Map<string, number>()

/** Records an open ledger; returns the function to call when it has been closed. */
export function noteOpenLedger(realPath: string): () => void {
  open.set(realPath, (open.get(realPath) ?? 0) + 1)
  return () => {
    const left = (open.get(realPath) ?? 1) - 1
    if (left === 0) open.delete(realPath)
    else open.set(realPath, left)
  }
}

/** Whether a file is an open ledger, or one of the files beside it of SQLite and of instance locks. */
export function isOpenLedgerFile(realPath: string): boolean {
  for (const ledger of open.keys()) if (realPath === ledger || realPath.startsWith(`${ledger}-`)) return true
  return false
}
