// The fenced blocks of a Markdown document, in their order.

export interface GuideBlock {
  /** `sh`, `js`, `ts`, `text`, … */
  language: string
  /** The word after the language: the file that the reader saves the block as, or how a block of commands is meant. */
  label: string
  text: string
}

/** @example blocksIn('```js hello.mjs\nconsole.log(1)\n```') */
export function blocksIn(markdown: string): GuideBlock[] {
  return Array.from(
    markdown.matchAll(/^```(\w+)[ \t]*(\S*)\n([\s\S]*?)^```$/gm),
    ([, language = '', label = '', text = '']) => ({ language, label, text }),
  )
}

/** A pattern for output as a document shows it: `…` is anything within a line, and on a line of its own any number of lines. */
export function outputPattern(shown: string): RegExp {
  const lines = shown
    .split(/(?<=\n)/)
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : line.split('…').map(escaped).join('.*')))
  return new RegExp(`^${lines.join('')}$`)
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
