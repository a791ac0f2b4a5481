// `errand chat`: lines from a pipe, one after the other, and lines typed at a terminal while answers arrive.
import { expect, it } from 'vitest'
import { WholeLines } from '../../../src/surfaces/terminal/chat-lines.ts'
import { startFakeOpenAi } from '../../agents/models/fake-openai-server.ts'
import { call, keyboard, screen } from './agent-workplace.ts'
import { Workplace } from './workplace.ts'

const talker = `
- when: { goal: first }
  text: "Answer one."
- when: { goal: second }
  tools: [{ name: ask_user, input: { question: "Sure?" } }]
- when: { last: /^yes/ }
  text: "Thank you."
`

it('errand chat runs lines in order, each after the answer to the one before; a question takes the next line', async () => {
  await using place = new Workplace()
  place.write('script.yaml', talker)
  const stdin = 'first question\n\nsecond question\r\nyes, I am'
  const { code, out, err } = await call(place, ['chat', '--model', 'script:script.yaml', '--no-intent'], { stdin })
    .ended
  expect({ code, out }).toEqual({ code: 0, out: 'Answer one.\nThank you.\n' })
  const notes = err.split('\n').filter((line) => line.startsWith('· '))
  expect(notes).toEqual([
    expect.stringMatching(/^· new task #1 first question \(@task-\w+\)$/),
    expect.stringMatching(/^· new task #2 second question \(@task-\w+\)$/),
    '· asks: Sure?',
    '· to #2 second question',
    '· calls ask_user {"question":"Sure?"}',
  ])
})

it('errand chat carries out requests that the model recognises, and reports what was done', async () => {
  await using place = new Workplace()
  const wish = (intent: object) => ({
    text: JSON.stringify({ confidence: 0.9, details: {}, taskId: null, ...intent }),
  })
  await using fake = await startFakeOpenAi([
    wish({ action: 'list_tasks' }),
    wish({ action: 'create_task' }),
    { text: 'Made.' },
  ])
  await place.errand('add', 'by hand')
  const world = { env: { LOCAL_BASE_URL: fake.baseURL }, stdin: 'what is there?\nmake something\n' }
  const { code, out, err } = await call(place, ['chat', '--model', 'local:m'], world).ended
  expect({ code, out }).toEqual({ code: 0, out: 'Made.\n' })
  expect(err).toMatch(/· #1 by hand claimable \(@task-\w+\)\n· new task #2 make something/)
})

it('errand chat sends a line to the task that it mentions, and continues after a refusal', async () => {
  await using place = new Workplace()
  place.write('script.yaml', talker)
  await place.errand('ask', 'second one', '--model', 'script:script.yaml')
  const [task] = await place.tasks()
  const stdin = `@${task?.id} yes\n@${task?.id} yes\n@task-missing hello\n`
  const { code, out, err } = await call(place, ['chat', '--model', 'script:script.yaml'], { stdin }).ended
  expect({ code, out }).toEqual({ code: 0, out: 'Thank you.\n' })
  expect(err).toMatch(/· to #1 second one\n/)
  expect(err.match(/· nothing was done: /g)).toHaveLength(2)
})

it('errand chat --json prints what was done and the items of the streams', async () => {
  await using place = new Workplace()
  place.write('script.yaml', talker)
  const args = ['chat', '--model', 'script:script.yaml', '--no-intent', '--json']
  const { out } = await call(place, args, { stdin: 'first\n' }).ended
  const items = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(items[0]).toMatchObject({
    type: 'handled',
    line: 'first',
    did: 'created',
    taskId: expect.stringMatching(/^task-/),
  })
  expect(items.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
})

it('errand chat exits with 0 and names open tasks; it requires a model', async () => {
  await using place = new Workplace()
  place.write('script.yaml', talker)
  const open = await call(place, ['chat', '--model', 'script:script.yaml', '--no-intent'], { stdin: 'second\n' }).ended
  expect(open.code).toBe(0)
  expect(open.err).toMatch(/#1 second stays open\.\n$/)
  expect((await call(place, ['chat'], { stdin: 'x\n' }).ended).code).toBe(2)
})

it('errand chat reports a failed task and continues', async () => {
  await using place = new Workplace()
  place.write(
    'script.yaml',
    '- when: { goal: bad }\n  error: { status: 400, message: refused }\n- when: { goal: good }\n  text: "Fine."',
  )
  const args = ['chat', '--model', 'script:script.yaml', '--no-intent']
  const { code, out, err } = await call(place, args, { stdin: 'bad\ngood\n' }).ended
  expect({ code, out }).toEqual({ code: 0, out: 'Fine.\n' })
  expect(err).toMatch(/· failed: .*refused/)
})

it('errand chat keeps the line being typed at the bottom and sends it at once; Ctrl-D ends the chat', async () => {
  await using place = new Workplace()
  await using fake = await startFakeOpenAi([{ text: ['One line\nand ', 'half of'], ending: 'hang' }, { text: 'both.' }])
  const { keys, raw } = keyboard()
  const { output, text } = screen()
  const env = { LOCAL_BASE_URL: fake.baseURL }
  const chat = call(place, ['chat', '--model', 'local:m', '--no-intent'], { env, keyboard: keys, stdout: output })
  const shown = async (pattern: RegExp) => {
    while (!pattern.test(text())) await new Promise((resolve) => output.once('data', resolve))
  }
  await shown(/› /)
  keys.write('Begin\r')
  await shown(/One line\n/)
  expect(text()).not.toContain('half of')
  keys.write('and then')
  await shown(/and then/)
  fake.release()
  await shown(/and half of\n.*› and then/s)
  keys.write('\u0015\u0004')
  expect((await chat.ended).code).toBe(0)
  expect(raw.at(-1)).toBe(false)
})

it('errand chat exits with 130 on Ctrl-C and releases running tasks', async () => {
  await using place = new Workplace()
  await using fake = await startFakeOpenAi([{ text: 'begun\n', ending: 'hang' }])
  const { keys } = keyboard()
  const { output, text } = screen()
  const env = { LOCAL_BASE_URL: fake.baseURL }
  const chat = call(place, ['chat', '--model', 'local:m', '--no-intent'], { env, keyboard: keys, stdout: output })
  keys.write('Begin\r')
  while (!text().includes('begun\n')) await new Promise((resolve) => output.once('data', resolve))
  keys.write('\u0003')
  expect((await chat.ended).code).toBe(130)
  expect((await place.tasks())[0]).toMatchObject({ status: 'waiting', statusReason: 'released' })
})

it('errand chat cuts long lines between words', () => {
  const written: string[] = []
  const lines = new WholeLines(
    () => 10,
    (text) => written.push(text),
  )
  for (const piece of ['one two ', 'three four', '\nfive', ' six']) lines.take(piece)
  lines.end()
  expect(written.join('')).toBe('one two three\nfour\nfive six\n')
})

it('errand chat exits with 130 when it is interrupted while it waits for a line', async () => {
  await using place = new Workplace()
  place.write('script.yaml', talker)
  const { spawn } = await import('node:child_process')
  const { binFile } = await import('./workplace.ts')
  const child = spawn(process.execPath, [binFile, 'chat', '--model', 'script:script.yaml', '--no-intent'], {
    cwd: place.folder,
    env: { ...process.env, ERRAND_LEDGER: `${place.folder}/ledger.db` },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const answered = new Promise<void>((resolve) => {
    let out = ''
    child.stdout.on('data', (piece: Buffer) => {
      out += piece.toString()
      if (out.includes('Answer one.\n')) resolve()
    })
  })
  child.stdin.write('first\n')
  await answered
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(130)
})
