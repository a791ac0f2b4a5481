// `startRepl` in a program: its options, its end, and the parsing of lines.
import { createInterface, type Interface } from 'node:readline'
import { PassThrough, Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { startRepl } from '../../../src/surfaces/repl/index.ts'
import { Printer, type TypedLine } from '../../../src/surfaces/repl/printer.ts'
import { readLine, wordsOf } from '../../../src/surfaces/repl/read-line.ts'
import { keyboard, screen } from '../cli/agent-workplace.ts'
import { TerminalScreen } from './terminal-screen.ts'

function collector() {
  const output = new PassThrough()
  const written: string[] = []
  output.on('data', (piece: Buffer) => written.push(piece.toString()))
  return { output, text: () => written.join('') }
}

it('X-028 startRepl runs a session on any terminal, ends with close, and leaves the engine open', async () => {
  await using engine = await createEngine({ work: false })
  const { keys } = keyboard()
  const { output, text } = screen()
  const codes: number[] = []
  const repl = startRepl(engine, {
    input: keys,
    output,
    historyFile: '',
    prompt: 'mine> ',
    context: { answer: 42 },
    onExit: (code) => void codes.push(code),
  })
  const shown = async (pattern: RegExp) => {
    while (!pattern.test(text())) await new Promise((resolve) => output.once('data', resolve))
  }
  await shown(/mine> /)
  keys.write('answer + 1\r')
  await shown(/43/)
  keys.write('await new Promise(() => setImmediate(() => console.log("hangs")))\r')
  await shown(/\nhangs/)
  repl.close()
  expect(await repl.closed).toBe(0)
  expect(codes).toEqual([0])
  expect((await engine.create({ name: 'still open' })).seq).toBe(1)
})

it('X-028 startRepl runs the input as a script if it is not a terminal', async () => {
  await using engine = await createEngine({ work: false })
  const [out, err] = [collector(), collector()]
  const input = Readable.from(['/create it --by-hand\n/pause it\n'])
  const repl = startRepl(engine, { input, output: out.output, errors: err.output })
  expect(await repl.closed).toBe(2)
  expect(out.text()).toMatch(/^#1 it created/)
  expect(err.text()).toMatch(/^errand repl: line 2: INVALID_TRANSITION/)
})

it('X-028 startRepl refuses unknown options', async () => {
  await using engine = await createEngine({ work: false })
  expect(() => startRepl(engine, { promt: '> ' } as object)).toThrow(/promt.*prompt/s)
})

const isVerb = (word: string) => ['pause', 'show'].includes(word)

it.each([
  ['@12 go on', { kind: 'message', ref: '12', text: 'go on' }],
  ['@"two words"  go\non', { kind: 'message', ref: 'two words', text: 'go\non' }],
  ['@$', { kind: 'message', ref: '$', text: '' }],
  ['@', { kind: 'message', ref: '', text: '' }],
  ['/pause 12', { kind: 'command', verb: 'pause', rest: '12' }],
  ['/pause a/b', { kind: 'command', verb: 'pause', rest: 'a/b' }],
  ['/paus 12', { kind: 'command', verb: 'paus', rest: '12' }],
  ['/left|right/.test(x)', undefined],
  ['/a b/.test(x)', undefined],
  ['1 / 2', undefined],
  ['', undefined],
])('X-028 readLine parses %j as %j', (text, line) => {
  expect(readLine(text, isVerb)).toEqual(line)
})

it('X-028 takeWord keeps quoted words together', () => {
  expect(wordsOf(` one "two words" 'and three'  4 `)).toEqual(['one', 'two words', 'and three', '4'])
})

type Write = (reader: Interface, output: PassThrough & { isTTY: boolean; columns: number }) => void

const writePlainly: Write = (_reader, output) => output.write('\r· notice\n')
const writeThroughPrinter: Write = (reader, output) => {
  const printer = new Printer(output)
  const typed = Object.assign(reader, { displayPrompt: (preserve?: boolean) => reader.prompt(preserve) })
  printer.typed = typed as unknown as TypedLine
  printer.notice('notice')
}

/** A screen with a half-typed line when a notice is written. */
async function typing(write: Write): Promise<TerminalScreen> {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 22 })
  const shown = new TerminalScreen(22)
  const reader = createInterface({ input, output, terminal: true, prompt: '> ' })
  reader.prompt()
  reader.write('a line longer than the terminal')
  write(reader, output)
  reader.close()
  shown.write(String(output.read()))
  return shown
}

it('X-028 the test screen wraps, moves and erases like a terminal, and refuses unknown sequences', () => {
  const shown = new TerminalScreen(5)
  shown.write('abcdefg\r\nxy\u001b[1A\u001b[1GQ\u001b[')
  shown.write('0K')
  expect({ lines: shown.lines, cursor: shown.cursor }).toEqual({
    lines: ['abcde', 'Q', 'xy'],
    cursor: { row: 1, column: 1 },
  })
  shown.write('\u001b[0J')
  expect(shown.lines).toEqual(['abcde', 'Q'])
  expect(() => shown.write('\u001b[2J')).toThrow(/does not support/)
})

it('X-028 the printer does not damage the line being typed, which the test screen would show', async () => {
  const [torn, kept] = await Promise.all([typing(writePlainly), typing(writeThroughPrinter)])
  expect(kept.lines).toEqual(['· notice', '> a line longer than t', 'he terminal'])
  expect(kept.cursor).toEqual({ row: 2, column: 11 })
  expect(torn.lines).toEqual(['> a line longer than t', '· noticenal', ''])
})
