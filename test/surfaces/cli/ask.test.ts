// `errand ask` end to end: a goal, a model, the answer on stdout and everything else on stderr.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type FakeTurn, startFakeOpenAi } from '../../agents/models/fake-openai-server.ts'
import { call, keyboard } from './agent-workplace.ts'
import { Workplace } from './workplace.ts'

const twoSteps = `
- text: "I look. "
  tools: [{ name: fs_list, input: {} }, { name: fs_read, input: { path: missing.txt } }]
- text: "There is one file."
`
const asksFirst = `
- tools: [{ name: ask_user, input: { question: "Which colour?", options: [red, blue] } }]
- text: "So be it."
`

async function server(turns: FakeTurn[]) {
  const fake = await startFakeOpenAi(turns)
  onTestFinished(() => fake.close())
  return { fake, env: { LOCAL_BASE_URL: fake.baseURL } }
}

it('errand ask streams the text of the agent to stdout, and its calls to stderr', async () => {
  await using place = new Workplace()
  place.write('script.yaml', twoSteps)
  const { code, out, err } = await place.errand('ask', 'What is here?', '--model', 'script:script.yaml', '--files', '.')
  expect(code).toBe(0)
  expect(out).toBe('I look. \nThere is one file.\n')
  expect(err).toContain('· calls fs:list\n')
  expect(err).toContain('· calls fs:read {"path":"missing.txt"}\n')
  expect(err).toContain('· fs:read failed: There is no file or folder missing.txt.')
  expect(err).not.toContain('Calling')
})

it('errand ask passes text on before the message is whole', async () => {
  await using place = new Workplace()
  const { fake, env } = await server([{ text: ['Hel', 'lo'], ending: 'hang' }])
  const asked = call(place, ['ask', 'Greet', '--model', 'local:m'], { env })
  await asked.printed(/Hello/)
  fake.release()
  expect(await asked.ended).toMatchObject({ code: 0, out: 'Hello\n' })
})

it('errand ask reads the goal from a pipe, and instructions, tools and the number of steps from options', async () => {
  await using place = new Workplace()
  const { fake, env } = await server([{ toolCalls: [{ name: 'fs_list', arguments: {} }] }, { text: 'more' }])
  const args = [
    '--model',
    'local:m',
    '--system',
    'Be brief.',
    '--allow',
    'fs:list',
    '--files',
    '.',
    '--max-iterations',
    '1',
  ]
  const { code, err } = await call(place, ['ask', ...args], { env, stdin: 'Look around\n' }).ended
  expect(code).toBe(1)
  expect(err).toContain('failed: Maximum iterations reached')
  const body = fake.requests[0]?.body
  expect(body.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Look around' },
  ])
  expect(body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
    'ask_user',
    'wait_for_tasks',
    'fs_list',
  ])
})

it('errand ask --json prints the items of the stream and nothing else', async () => {
  await using place = new Workplace()
  place.write('script.yaml', twoSteps)
  const { code, out } = await place.errand('ask', 'x', '--model', 'script:script.yaml', '--files', '.', '--json')
  const items = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(code).toBe(0)
  expect(items[0]).toMatchObject({ type: 'start', goal: 'x' })
  expect(items.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  expect(items.filter((item) => item.type === 'tool_call').map((item) => item.tool)).toEqual(['fs:list', 'fs:read'])
})

it('errand ask exits with 3 for an open question without a terminal, and continues after the answer with the same key', async () => {
  await using place = new Workplace()
  place.write('script.yaml', asksFirst)
  const args = ['ask', 'Paint it', '--model', 'script:script.yaml', '--key', 'paint']
  const first = await place.errand(...args)
  expect(first).toMatchObject({ code: 3, out: '' })
  const command = /errand answer '(#\d+)' 'red\|blue'/.exec(first.err)
  expect((await place.errand('answer', command?.[1] as string, 'blue')).code).toBe(0)
  expect(await place.errand(...args)).toMatchObject({ code: 0, out: 'So be it.\n' })
  // Called again, it prints the answer again and runs nothing.
  expect(await place.errand(...args)).toMatchObject({ code: 0, out: 'So be it.\n' })
  expect(await place.tasks()).toHaveLength(1)
  expect(await place.errand('ask', 'Another goal', ...args.slice(2))).toMatchObject({ code: 2 })
})

it('errand ask accepts the answers of several questions one after the other', async () => {
  await using place = new Workplace()
  place.write(
    'script.yaml',
    '- tools: [{ name: ask_user, input: { question: "One?" } }, { name: ask_user, input: { question: "Two?" } }]\n- text: Both.',
  )
  const { keys } = keyboard()
  const stderr = { isTTY: true, columns: 80, rows: 24, write: (_text: string): void => {} }
  const asked = new Set<string>()
  stderr.write = (text) => {
    const question = /\[2K\S* (One|Two)\?/.exec(text)?.[1]
    if (question === undefined || asked.has(question)) return
    asked.add(question)
    keys.write('yes\r')
  }
  const { ended } = call(place, ['ask', 'Paint it', '--model', 'script:script.yaml'], { keyboard: keys, stderr })
  expect(await ended).toMatchObject({ code: 0, out: 'Both.\n' })
  expect(asked.size).toBe(2)
})

it('errand ask accepts the answer of a question at the terminal', async () => {
  await using place = new Workplace()
  place.write('script.yaml', asksFirst)
  const { keys, raw } = keyboard()
  const errors: string[] = []
  const stderr = { isTTY: true, columns: 80, rows: 24, write: (text: string) => void errors.push(text) }
  const asked = call(place, ['ask', 'Paint it', '--model', 'script:script.yaml'], { keyboard: keys, stderr })
  const answering = new Promise<void>((resolve) => {
    stderr.write = (text) => {
      errors.push(text)
      if (text.includes('›')) resolve()
    }
  })
  await answering
  keys.write('blue\r')
  expect(await asked.ended).toMatchObject({ code: 0, out: 'So be it.\n' })
  expect(errors.join('')).toContain('Which colour? [red|blue]')
  expect(raw).toEqual([true, false])
})

it('errand ask releases the task on Ctrl-C and exits with 130', async () => {
  await using place = new Workplace()
  const { fake, env } = await server([{ text: 'begun', ending: 'hang' }, { text: 'done' }])
  const args = ['ask', 'Take long', '--model', 'local:m', '--key', 'k']
  const first = call(place, args, { env })
  await first.printed(/begun/)
  first.io.interrupt()
  const { code, err } = await first.ended
  expect(code).toBe(130)
  expect(err).toMatch(
    /Stopping: #1 Take long stays open, the same command continues it; "errand cancel '#1'" cancels it\./,
  )
  expect((await place.tasks())[0]).toMatchObject({ status: 'waiting', statusReason: 'released' })
  expect(await call(place, args, { env }).ended).toMatchObject({ code: 0, out: 'done\n' })
  expect(fake.unplanned).toBe(0)
})

it('errand ask reports a failed model call that is repeated, exits with 1 for a final failure, and retries with the same key', async () => {
  await using place = new Workplace()
  const broken: FakeTurn = { status: 400, error: { message: 'no such model' } }
  const { env } = await server([
    { status: 503, error: 'busy', headers: { 'retry-after-ms': '1' } },
    broken,
    { text: 'yes' },
  ])
  const args = ['ask', 'Try', '--model', 'local:m', '--key', 'k']
  const first = await call(place, args, { env }).ended
  expect(first.code).toBe(1)
  expect(first.err).toMatch(/· the model failed: .*\(calling it again\)\n/)
  expect(first.err).toMatch(/· failed: .*no such model/)
  expect(await call(place, args, { env }).ended).toMatchObject({ code: 0, out: 'yes\n' })
})

it('errand ask reports subtasks, and accepts answers to their questions', async () => {
  await using place = new Workplace()
  place.write(
    'script.yaml',
    `
- when: { goal: '/^root/' }
  tools: [{ name: task_create, input: { goal: "the part" } }]
- when: { goal: '/^root/' }
  tools: [{ name: wait_for_tasks }]
- when: { goal: '/^root/' }
  text: "All of it."
- when: { goal: the part }
  tools: [{ name: ask_user, input: { question: "How?" } }]
- when: { goal: the part }
  text: "Like that."
`,
  )
  const args = ['ask', 'root', '--model', 'script:script.yaml', '--key', 'k']
  const first = await place.errand(...args)
  expect(first.code).toBe(3)
  expect(first.err).toContain('· the part: asks: How?')
  const id = /\? #2 the part asks: How\?\n +errand answer '(#\d+)' VALUE/.exec(first.err)?.[1]
  await place.errand('answer', id as string, 'so')
  const second = await place.errand(...args)
  expect(second).toMatchObject({ code: 0, out: 'All of it.\n' })
  expect(second.err).toMatch(/· #2 the part: completed/)
})

it.each([
  ['a missing model', ['ask', 'x'], /No model is configured\. Give one with --model/],
  ['an invalid model', ['ask', 'x', '--model', 'gpt'], /is not a model/],
  ['a server without a key', ['ask', 'x', '--model', 'openai:gpt-5-mini'], /set OPENAI_API_KEY/],
  ['a missing goal', ['ask', '--model', 'script:s.yaml'], /The goal is missing/],
  [
    'a missing folder',
    ['ask', 'x', '--model', 'script:s.yaml', '--files', 'nowhere'],
    /folder .*nowhere does not exist/,
  ],
  ['invalid abilities', ['ask', 'x', '--model', 'script:s.yaml', '--allow', 'fs:read,'], /--allow takes/],
])('errand ask refuses %s, and creates nothing', async (_what, args, message) => {
  await using place = new Workplace()
  place.write('s.yaml', '- text: hello')
  const { code, err } = await call(place, args).ended
  expect(code).toBe(2)
  expect(err).toMatch(message)
  expect((await place.errand('ps')).code).toBe(2)
})

it('errand ask takes the model from the environment', async () => {
  await using place = new Workplace()
  place.write('s.yaml', '- text: hello')
  const env = { ERRAND_MODEL: 'script:s.yaml' }
  expect(await call(place, ['ask', 'x'], { env }).ended).toMatchObject({ code: 0, out: 'hello\n' })
})

it('errand ask offers the tools of the MCP servers that --mcp names, and the process ends with them', async () => {
  await using place = new Workplace()
  place.write('note.txt', 'The tide is high.')
  const program = join(
    import.meta.dirname,
    '../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
  )
  const command = `"${process.execPath}" "${program}" .`
  const path = join(place.folder, 'note.txt')
  place.write(
    'script.json',
    JSON.stringify([{ tools: [{ name: 'files_read_text_file', input: { path } }] }, { text: 'Read.' }]),
  )
  const asked = place.start('ask', 'Read the note', '--model', 'script:script.json', '--mcp', `files=${command}`)
  const { code, err } = await asked.ended
  expect(code).toBe(0)
  expect(err).toContain('· calls files:read_text_file')
  const { out } = await place.errand('show', '#1', '--json')
  expect(JSON.parse(out).calls).toMatchObject([{ status: 'completed', result: { content: 'The tide is high.' } }])
})

it.each([
  [['--mcp', 'exit 3'], /The MCP server "exit 3" does not answer/],
  [['--mcp', ' '], /--mcp is empty/],
  [['--mcp', 'a=x', '--mcp', 'a=y'], /Two MCP servers have the name "a"/],
])('errand ask with %j is refused, and nothing is created', async (flags, message) => {
  await using place = new Workplace()
  place.write('script.yaml', '- text: Never\n')
  const { code, err } = await place.errand('ask', 'Anything', '--model', 'script:script.yaml', ...flags)
  expect([code, err]).toEqual([2, expect.stringMatching(message)])
  expect(existsSync(join(place.folder, 'ledger.db'))).toBe(false)
})
