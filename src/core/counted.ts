// Numbers of things in sentences.

/** `1 fact`, `3 facts`, `0 facts`; of an irregular noun the plural is given. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
