// What a pass over a folder has done, and what it would not do.

/** A file that was not taken as it stands. */
export interface RefusedFile {
  /** Name of the file. */
  file: string
  /** What is wrong, and what would work. */
  why: string
  /** Where its text was kept, relative to the folder; absent where there was none to keep. */
  copy?: string
}

/** A value of a taken file that the board could not hold; export gives it back for as long as the board's own stays the same. */
export interface UnheldValue {
  file: string
  key: string
  why: string
}

export interface MirrorReport {
  /** Files that were written, those that came back after a refusal among them. */
  written: string[]
  /** Files whose edit, or whose task, is on the board now. */
  imported: string[]
  /** Edits of which nothing was done; the file says again what the board says. */
  refused: RefusedFile[]
  /** Files that were left as they are. */
  skipped: RefusedFile[]
  /** Files of tasks that are no longer on the board. */
  removed: string[]
  unheld: UnheldValue[]
  /** Another process writes this folder: this one waits, and has done nothing. */
  standingBy: boolean
}

export function emptyReport(): MirrorReport {
  return { written: [], imported: [], refused: [], skipped: [], removed: [], unheld: [], standingBy: false }
}

/** Is there nothing to tell? */
export function isEmptyReport(report: MirrorReport): boolean {
  const { standingBy: _standingBy, ...lists } = report
  return Object.values(lists).every((list) => list.length === 0)
}
