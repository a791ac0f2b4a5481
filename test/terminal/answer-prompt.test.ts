// The line in which a question is answered at the terminal: its keys, and the release of the keyboard.
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine-api.ts'
import { AnswerPrompt } from '../../src/terminal/answer-prompt.ts'
import type { OpenQuestion, Row } from '../../src/terminal/round-view.ts'

const question: OpenQuestion = {
  id: 'q1',
  taskId: 'task-a',
  question: 'Which?',
  schema: { enum: ['x', 'y'] },
  default: 'y',
  dueAt: 15_000,
}

function setup(asked: OpenQuestion = question) {
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
  const prompt = new AnswerPrompt(keyboard, engine, () => interrupts++)
  const row = { path: 'a', status: 'input_required', ready: false, question: asked } as Row
  const type = (text: string) => {
    const processed = new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    keyboard.write(text)
    return processed
  }
  const draw = (columns = 60) => prompt.draw([row], columns, 5_000)
  const refuse = (error: ErrandError | undefined) => {
    refusal = error
  }
  return { prompt, row, type, draw, refuse, raw, answers, interrupts: () => interrupts }
}

describe('AnswerPrompt', () => {
  it('AnswerPrompt shows the question, its choices, and its default', () => {
    const { draw } = setup()
    expect(draw()).toBe(' Which? [x|y] (else y in 10.0s) › ▏')
    expect(draw(20)).toBe(' Which? [x|y] … › ▏')
  })

  it('AnswerPrompt takes the keyboard only while a question is open', async () => {
    const { prompt, row, draw, raw } = setup()
    expect(prompt.draw([], 60, 0)).toBeUndefined()
    expect(raw).toEqual([])
    draw()
    draw()
    expect(raw).toEqual([true])
    expect(prompt.draw([{ ...row, ready: true }], 60, 0)).toBeUndefined()
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
    expect(draw()).toBeUndefined()
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
    refuse(new ErrandError('INVALID_ANSWER', 'This does not answer it.\nmore'))
    await type('{"a":1}\r')
    expect(draw()).toBe(' This does not answer it. › ▏')
    refuse(undefined)
    await type('1\r')
    expect(answers).toEqual([['task-a', 'q1', '1']])
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
    expect(/\p{Cc}/u.test(draw() ?? '')).toBe(false)
  })
})
