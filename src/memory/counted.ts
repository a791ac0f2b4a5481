// How summaries say how many there were.

/** `1 fact`, `3 facts`, `0 facts`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
