// What a pass over a folder has done and has refused.

/** A file that was refused or skipped. */
export interface RefusedFile {
  /** Name of the file. */
  file: string
  /** What is wrong and what would work. */
  why: string
  /** Path of the kept copy, relative to the folder; absent if none was kept. */
  copy?: string
}

/** A value in an imported file that the board cannot store; an export restores it while the board's own value is unchanged. */
export interface UnheldValue {
  file: string
  key: string
  why: string
}

export interface MirrorReport {
  /** Files that were written, including those restored after a refusal. */
  written: string[]
  /** Files whose edit, or whose task, was taken over to the board. */
  imported: string[]
  /** Edits that were refused as a whole; the file shows the board's version again. */
  refused: RefusedFile[]
  /** Files that were left unchanged. */
  skipped: RefusedFile[]
  /** Removed files of tasks that are no longer on the board. */
  removed: string[]
  unheld: UnheldValue[]
  /** Another process writes this folder; this mirror has done nothing. */
  standingBy: boolean
}

export function emptyReport(): MirrorReport {
  return { written: [], imported: [], refused: [], skipped: [], removed: [], unheld: [], standingBy: false }
}

/** Whether a pass did nothing. */
export function isEmptyReport(report: MirrorReport): boolean {
  const { standingBy: _standingBy, ...lists } = report
  return Object.values(lists).every((list) => list.length === 0)
}
