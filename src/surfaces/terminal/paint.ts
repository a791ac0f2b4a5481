// Colours, or none. Every state also has a sign and a word, so that output is readable without colours.

export interface Paint {
  good: (text: string) => string
  bad: (text: string) => string
  busy: (text: string) => string
  asking: (text: string) => string
  quiet: (text: string) => string
}

const plain = (text: string) => text
const sgr = (code: number) => (text: string) => (text === '' ? '' : `\u001b[${code}m${text}\u001b[0m`)

/** Functions that colour a text, or return it unchanged. */
export function createPaint(color: boolean): Paint {
  return color
    ? { good: sgr(32), bad: sgr(31), busy: sgr(36), asking: sgr(33), quiet: sgr(2) }
    : { good: plain, bad: plain, busy: plain, asking: plain, quiet: plain }
}
