// Output arrives in chunks that do not align with lines or characters, in any amount.
import { describe, expect, it } from 'vitest'
import {
  createCommandOutput,
  endOfText,
  LineSplitter,
  maxLineLength,
  maxStoredBytes,
  maxStoredLines,
  maxTailBytes,
  startOfText,
  Tail,
} from '../../src/commands/command-output.ts'

function split(chunks: Iterable<Uint8Array | string>): string[] {
  const splitter = new LineSplitter()
  const lines: string[] = []
  for (const chunk of chunks) lines.push(...splitter.push(Buffer.from(chunk as string)))
  return [...lines, ...splitter.finish()]
}

describe('LineSplitter', () => {
  it('lineSplitter splits the same lines however the bytes are chunked', () => {
    const text = 'grün\n\n日本語 🦊\r\nno end'
    const bytes = Buffer.from(text)
    expect(split([bytes])).toEqual(text.split('\n'))
    expect(split([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(text.split('\n'))
  })

  it('lineSplitter splits an overlong line into pieces between two characters', () => {
    const long = `a${'ä'.repeat(maxLineLength)}`
    const lines = split([long, '\nb\n'])
    expect(lines.length).toBe(4)
    expect(lines.slice(0, 3).join('')).toBe(long)
    expect(lines[3]).toBe('b')
    expect(lines.every((line) => Buffer.byteLength(line) <= maxLineLength)).toBe(true)
  })

  it('lineSplitter passes on a line of exactly the maximum length in one piece', () => {
    const line = 'x'.repeat(maxLineLength)
    expect(split([`${line}\n${line}\n`])).toEqual([line, line])
  })

  it('lineSplitter passes on bytes that are not text', () => {
    const noise = Buffer.alloc(3 * maxLineLength, 0x80)
    expect(split([noise]).join('')).toBe('\uFFFD'.repeat(3 * maxLineLength))
    expect(split(['a\0b\n'])).toEqual(['a\uFFFDb'])
  })
})

describe('Tail', () => {
  it('tail holds the whole text while it is short', () => {
    const tail = new Tail(10)
    tail.push(Buffer.from('0123456789'))
    expect([tail.text(), tail.truncated]).toEqual(['0123456789', false])
  })

  it('tail says that a text is cut before it is read, from the first byte beyond the limit', () => {
    const tail = new Tail(10)
    tail.push(Buffer.from('0123456789'))
    tail.push(Buffer.from('x'))
    expect(tail.truncated).toBe(true)
  })

  it('tail holds the end of a long text, whatever the chunks', () => {
    for (const size of [1, 3, 10, 11, 25, 1000]) {
      const tail = new Tail(10)
      const text = Array.from({ length: 1000 }, (_, index) => index % 10).join('')
      for (let start = 0; start < text.length; start += size) tail.push(Buffer.from(text.slice(start, start + size)))
      expect([tail.text(), tail.truncated]).toEqual(['0123456789', true])
    }
  })

  it('tail begins the tail of a text with a whole character', () => {
    const tail = new Tail(10)
    tail.push(Buffer.from('ä'.repeat(6)))
    tail.push(Buffer.from('x'))
    expect(tail.text()).toBe('ääääx')
  })

  it('tail holds no more than twice its limit', () => {
    const output = createCommandOutput(() => undefined)
    for (let pushes = 0; pushes < 100; pushes++) output.stdout.push(Buffer.alloc(maxTailBytes - 1, 'x'))
    expect(output.stdout.text()).toHaveLength(maxTailBytes)
    expect(output.stdout.truncated).toBe(true)
    expect(output.stderr.truncated).toBe(false)
  })
})

describe('the stored output of a command', () => {
  function record() {
    const emitted: Array<{ text: string; store: boolean }> = []
    const output = createCommandOutput((text, { store }) => emitted.push({ text, store }))
    return {
      output,
      emitted,
      texts: (store: boolean) => emitted.filter((one) => one.store === store).map((one) => one.text),
    }
  }

  it('bounds the stored lines of both streams together, with one notice', () => {
    const { output, texts } = record()
    output.stdout.push(Buffer.from('out\n'.repeat(maxStoredLines - 1)))
    output.stderr.push(Buffer.from('last\nlive 1\nlive 2\n'))
    output.stdout.push(Buffer.from('live 3\nlive 4'))
    output.stdout.finish()
    const stored = texts(true)
    expect(stored).toHaveLength(maxStoredLines + 1)
    expect(stored.at(-2)).toBe('last\n')
    expect(stored.at(-1)).toContain('not stored')
    expect(texts(false)).toEqual(['live 1\nlive 2\n', 'live 3\n', 'live 4\n'])
  })

  it('bounds the stored bytes of a command', () => {
    const { output, texts } = record()
    const line = `${'x'.repeat(1023)}\n`
    for (let lines = 0; lines < 1500; lines++) output.stdout.push(Buffer.from(line))
    expect(texts(true)).toHaveLength(maxStoredBytes / 1024 + 1)
    expect(texts(false)).toHaveLength(1500 - maxStoredBytes / 1024)
  })
})

describe('endOfText and startOfText', () => {
  it('truncate a text to whole characters', () => {
    expect(startOfText('äöü', 5)).toBe('äö')
    expect(endOfText('äöü', 5)).toBe('öü')
    expect(startOfText('🦊🦊', 7)).toBe('🦊')
    expect(endOfText('🦊🦊', 7)).toBe('🦊')
    expect(startOfText('äöü', 6)).toBe('äöü')
    expect(startOfText('äöü', 0)).toBe('')
    expect(startOfText('äöü', 1)).toBe('')
  })
})
