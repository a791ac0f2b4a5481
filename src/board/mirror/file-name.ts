// Names of the files of a board. Only what has exactly this form is ever read or written: no path, no other extension.

/** Numbers that a file may make a task of; a mistaken `task_999999999999.json` must not use up all numbers below it. */
export const largestNewNumber = 1_000_000_000

const pattern = /^task_([1-9]\d{0,14})\.json$/

export function nameOf(number: number): string {
  return `task_${number}.json`
}

/** The number in a name; undefined for any other file. */
export function numberIn(name: string): number | undefined {
  const match = pattern.exec(name)
  return match === null ? undefined : Number(match[1])
}

/** Other boards leave the word out: read by an import, never by a mirror. */
export function bareNumberIn(name: string): number | undefined {
  return /^[1-9]\d{0,14}\.json$/.test(name) ? Number.parseInt(name, 10) : undefined
}

/** Looks as if it was meant for one, and is none: reported, so that nobody waits for it. */
export function isNearlyOne(name: string): boolean {
  return name.startsWith('task_') && name.endsWith('.json') && numberIn(name) === undefined
}
