// The line in which a question is answered at the terminal: its keys, and the release of the keyboard.
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../../src/core/errors.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import { AnswerPrompt, type PromptOptions } from '../../../src/surfaces/terminal/answer-prompt.ts'
import type { OpenQuestion, Row } from '../../../src/surfaces/terminal/round-rows.ts'

const question: OpenQuestion = {
  id: 'q1',
  taskId: 'task-a',
  question: 'Which?',
  schema: { enum: ['x', 'y'] },
  default: 'y',
  dueAt: 15_000,
}

function setup(asked: OpenQuestion = question, options: PromptOptions = {}) {
  const raw: boolean[] = []
  const keyboard = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => raw.push(on) })
  const answers: unknown[] = []
  let interrupts = 0
  let refusal: ErrandError | undefined
  const engine = {
    bus: {
      async call(
        ability: string,
        { taskId, question: id, value }: Record<string, unknown>,
        { caller }: object & { caller: unknown },
      ) {
        if (refusal !== undefined) throw refusal
        expect([ability, caller]).toEqual(['task:answer', { surface: 'cli' }])
        answers.push([taskId, id, value])
      },
    },
  } as unknown as Engine
  const prompt = new AnswerPrompt(keyboard, engine, () => interrupts++, options)
  const row = { path: 'a', status: 'input_required', ready: false, question: asked } as Row
  const type = (text: string) => {
    const processed = new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    keyboard.write(text)
    return processed
  }
  const draw = (columns = 60, now = 5_000) => prompt.draw([row], { columns, height: 20 }, now).join('\n')
  const refuse = (error: ErrandError | undefined) => {
    refusal = error
  }
  return { prompt, row, type, draw, refuse, raw, answers, interrupts: () => interrupts }
}

describe('AnswerPrompt', () => {
  it('AnswerPrompt shows the question, its choices, and its default', () => {
    const { draw } = setup()
    expect(draw()).toBe(' Which? [x|y] (default: y in 10.0s)\n › ▏')
    expect(draw(20)).toBe(' Which? [x|y]\n (default: y in\n 10.0s)\n › ▏')
  })

  it('AnswerPrompt takes the keyboard only while a question is open', async () => {
    const { prompt, row, draw, raw } = setup()
    const size = { columns: 60, height: 20 }
    expect(prompt.draw([], size, 0)).toEqual([])
    expect(raw).toEqual([])
    draw()
    draw()
    expect(raw).toEqual([true])
    expect(prompt.draw([{ ...row, ready: true }], size, 0)).toEqual([])
    expect(raw).toEqual([true, false])
    draw()
    prompt.end()
    expect(raw).toEqual([true, false, true, false])
  })

  it('AnswerPrompt sends the typed text as JSON or text after corrections, and does not ask again', async () => {
    const { type, draw, answers } = setup()
    draw()
    await type('xyé\u007f\u007f\u001b[A')
    expect(draw()).toContain('› x▏')
    await type('\r')
    expect(answers).toEqual([['task-a', 'q1', 'x']])
    expect(draw()).toBe('')
  })

  it('AnswerPrompt sends the default for an empty line, if there is one', async () => {
    const { type, draw, answers } = setup()
    draw()
    await type('\r')
    expect(answers).toEqual([['task-a', 'q1', undefined]])
    const { default: _default, ...bare } = question
    const other = setup(bare)
    other.draw()
    await other.type('\r')
    expect(other.answers).toEqual([])
    expect(other.draw()).toContain('There is no default')
  })

  it('AnswerPrompt shows why an answer was refused, and accepts another one', async () => {
    const { type, draw, answers, refuse } = setup()
    draw()
    refuse(new ErrandError('INVALID_ANSWER', 'No.', { issues: [{ path: '', message: 'Expected a choice' }] }))
    await type('z\r')
    expect(draw()).toContain('\n "z" is not valid: Expected a choice. Type one of: x, y.\n › ▏')
    refuse(new ErrandError('NOT_FOUND', 'There is no such task.\nmore'))
    await type('{"a":1}\r')
    expect(draw()).toContain('\n There is no such task.\n › ▏')
    refuse(undefined)
    await type('1\r')
    expect(answers).toEqual([['task-a', 'q1', '1']])
  })

  it('AnswerPrompt takes the default when no key is pressed in time, and never after one', async () => {
    const unhurried = { ...question, dueAt: null }
    const alone = setup(unhurried, { defaultAfterMs: 30_000 })
    expect(alone.draw(80)).toContain('(default: y in 30.0s unless you press a key)')
    alone.draw(80, 34_999)
    expect(alone.answers).toEqual([])
    alone.draw(80, 35_000)
    expect(alone.answers).toEqual([['task-a', 'q1', undefined]])
    const typing = setup(unhurried, { defaultAfterMs: 30_000 })
    typing.draw()
    await typing.type('x')
    expect(typing.draw(80, 100_000)).toBe(' Which? [x|y] (default: y)\n › x▏')
    expect(typing.answers).toEqual([])
  })

  it('AnswerPrompt keeps its question and the typed text when others arrive, and turns to them afterwards', async () => {
    const { prompt, row, type, answers } = setup()
    const other = { ...row, path: 'b', question: { ...question, id: 'q2', taskId: 'task-b', question: 'Where?' } }
    const draw = () => prompt.draw([other, row], { columns: 60, height: 20 }, 5_000).join('\n')
    prompt.draw([row], { columns: 60, height: 20 }, 5_000)
    await type('x')
    expect(draw()).toBe(' Which? [x|y] (default: y in 10.0s)\n (1 more to answer after this one)\n › x▏')
    await type('\r')
    expect(draw()).toBe(' Where? [x|y] (default: y in 10.0s)\n › ▏')
    await type('y\r')
    expect(answers).toEqual([
      ['task-a', 'q1', 'x'],
      ['task-b', 'q2', 'y'],
    ])
    expect(draw()).toBe('')
  })

  it('AnswerPrompt shows a question that is higher than the terminal page by page, and sends no answer before the last one', async () => {
    const { prompt, row, type, answers } = setup({
      ...question,
      question: Array.from({ length: 20 }, (_, n) => `line ${n}`).join('\n'),
    })
    const draw = () => prompt.draw([row], { columns: 76, height: 12 }, 5_000)
    const first = draw()
    expect(first).toHaveLength(12)
    expect(first.slice(0, 2)).toEqual([' line 0', ' line 1'])
    expect(first.slice(-2)).toEqual([' (page 1 of 2: Page Down and Page Up turn it)', ' › ▏'])
    await type('x\r')
    expect(draw().join('\n')).toContain('The question goes on')
    expect(answers).toEqual([])
    await type('\u001b[6~')
    const last = draw()
    expect(last.slice(-3)).toEqual([
      ' line 19 [x|y] (default: y in 10.0s)',
      ' (page 2 of 2: Page Down and Page Up turn it)',
      ' › x▏',
    ])
    // Together they are all of it.
    const shown = [...first, ...last].join('\n')
    for (let n = 0; n < 20; n++) expect(shown).toContain(` line ${n}`)
    await type('\u001b[5~')
    expect(draw()).toEqual([...first.slice(0, -1), ' › x▏'])
    await type('\u001b[6~\r')
    expect(answers).toEqual([['task-a', 'q1', 'x']])
  })

  it('AnswerPrompt interrupts on Ctrl-C, and clears the line on Ctrl-U', async () => {
    const { type, draw, interrupts } = setup()
    draw()
    await type('abc\u0015')
    expect(draw()).toContain('› ▏')
    await type('\u0003')
    expect(interrupts()).toBe(1)
  })

  it('AnswerPrompt removes control characters from questions and typed text', async () => {
    const { type, draw } = setup({
      ...question,
      question: 'Wh\u001b[2Jich?',
      schema: { enum: ['\u0007x'] },
      default: '\u001b[31m',
    })
    draw()
    await type('\u0007\u001b]0;x\u0007')
    expect(/(?!\n)\p{Cc}/u.test(draw())).toBe(false)
  })
})
