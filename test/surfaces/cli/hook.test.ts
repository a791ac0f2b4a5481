// The hooks of coding agents: the context at the start of a session, the records at its end, and that no error of a hook reaches
// the agent.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import Database from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { fakeIo } from './fake-io.ts'
import { Workplace } from './workplace.ts'

interface Call {
  env?: Record<string, string>
  input?: unknown
  args?: string[]
}

/** Calls a hook like an agent: JSON on stdin, the variables of the session in the environment. */
async function hook(place: Workplace, name: string, { env = {}, input = {}, args = ['--timeout', '1m'] }: Call = {}) {
  const io = fakeIo({ cwd: place.folder, env: { ERRAND_LEDGER: join(place.folder, 'ledger.db'), ...env } })
  io.input = () => Readable.from([typeof input === 'string' ? input : JSON.stringify(input)])
  return { code: await main(['hook', name, ...args], io), out: io.out(), err: io.err(), exited: io.exited }
}

const contextOf = ({ out }: { out: string }): string => {
  const { hookSpecificOutput } = JSON.parse(out)
  expect(Object.keys(hookSpecificOutput)).toEqual(['hookEventName', 'additionalContext'])
  expect(hookSpecificOutput.hookEventName).toBe('SessionStart')
  return hookSpecificOutput.additionalContext
}
const nothing = { code: 0, out: '', err: '', exited: [] }

async function chain(): Promise<Workplace> {
  const place = new Workplace()
  await place.errand('board', 'add', 'Set up the project')
  await place.errand('board', 'add', 'Write code', '--after', '1', '--description', 'All of it.', '--priority', '5')
  await place.errand('board', 'add', 'Write tests', '--after', '2')
  return place
}

it('session-start prints the task from the environment, its blockers, and the next command', async () => {
  await using place = await chain()
  await place.errand('board', 'done', '1', 'in src/')
  await place.errand('board', 'claim', '2', '--as', 'ann')
  const context = contextOf(await hook(place, 'session-start', { env: { ERRAND_TASK_ID: '2' } }))
  expect(context).toContain('Task 2 of the board: Write code\nStatus: in_progress, claimed by ann (claim 1)\n')
  expect(context).toContain('Blocks: 3\nPriority: 5\n')
  expect(context).toContain('\nAll of it.\n')
  expect(context).toContain('It comes after:\n- [x] #1: Set up the project\n  Result: in src/\n')
  expect(context).toContain('"errand board done 2 --as ann RESULT"')
  const ready = contextOf(await hook(place, 'session-start', { env: { ERRAND_TASK_ID: '#2' } }))
  expect(ready).toBe(context)
})

it.each([
  { what: 'its JSON', pieces: ['{"session_id": "s-1", "cwd"', ': "/nowhere"}\n'] },
  { what: 'a part of its JSON', pieces: ['{"session_id": '] },
  { what: 'nothing', pieces: [] },
])('session-start prints the task when stdin stays open after $what', async ({ pieces }) => {
  await using place = await chain()
  const io = fakeIo({ cwd: place.folder, env: { ERRAND_LEDGER: join(place.folder, 'ledger.db'), ERRAND_TASK_ID: '1' } })
  const stdin = new PassThrough()
  for (const piece of pieces) stdin.write(piece)
  io.input = () => stdin
  expect(await main(['hook', 'session-start', '--timeout', '1m'], io)).toBe(0)
  expect(contextOf({ out: io.out() })).toContain('Task 1 of the board: Set up the project')
  // Nothing of it keeps the process alive.
  expect([stdin.destroyed, io.exited]).toEqual([true, []])
})

it('session-start prints open questions, progress and the latest messages of the task', async () => {
  await using place = new Workplace()
  const ledger = join(place.folder, 'ledger.db')
  await using engine = await createEngine({
    ledger,
    executors: {
      asks: async (_task, run) => {
        await run.progress(0.4, 'parsed')
        await run.message('assistant', 'I have read it all.')
        return await run.ask('Which colour?')
      },
    },
  })
  const parent = await engine.create({ name: 'Release', description: 'The first one' })
  const task = await engine.create({ name: 'Paint', executor: 'asks', parentId: parent.id })
  await engine.idle()
  const context = contextOf(await hook(place, 'session-start', { env: { BM_TASK_ID: task.id } }))
  expect(context).toContain('Progress: 40 % parsed')
  expect(context).toContain('It is a part of:\n- [ ] #1: Release\n  The first one\n')
  expect(context).toContain('Open questions:\n- Which colour?\n')
  expect(context).toMatch(/Latest messages:\n- \S+Z assistant: I have read it all\./)
})

it.each([
  ['ERRAND_TASK_ID', { DAY1_TASK_ID: '1', BM_TASK_ID: '2', ERRAND_TASK_ID: '3' }, 3],
  ['BM_TASK_ID', { DAY1_TASK_ID: '1', BM_TASK_ID: '2', ERRAND_TASK_ID: '' }, 2],
  ['DAY1_TASK_ID', { DAY1_TASK_ID: '1' }, 1],
  ['the first one that exists', { DAY1_TASK_ID: '1', BM_TASK_ID: 'task-of-another-program', ERRAND_TASK_ID: '99' }, 1],
])('session-start takes the task from %s', async (_which, env, number) => {
  await using place = await chain()
  expect(contextOf(await hook(place, 'session-start', { env }))).toMatch(`Task ${number} of the board`)
})

it('session-start finds the task by the prefix of its id', async () => {
  await using place = await chain()
  const { taskId } = JSON.parse((await place.errand('board', 'show', '3', '--json')).out)
  const env = { ERRAND_TASK_ID: taskId.slice(0, 14) }
  expect(contextOf(await hook(place, 'session-start', { env }))).toMatch('Task 3 of the board')
})

it('session-start without a task lists claimable tasks and the tasks of the agent', async () => {
  await using place = await chain()
  await place.errand('board', 'add', 'Urgent', '--priority', '9')
  const context = contextOf(await hook(place, 'session-start'))
  expect(context).toBe(
    [
      'Tasks of the board that may be claimed now, the most urgent first:',
      '[ ] #4: Urgent',
      '[ ] #1: Set up the project',
      '',
      'To claim one: "errand board claim N --as NAME", or the tool board_claim; "errand board show N" shows it.',
    ].join('\n'),
  )
  await place.errand('board', 'claim', '4', '--as', 'ann')
  const hers = contextOf(await hook(place, 'session-start', { env: { ERRAND_AGENT: 'ann' } }))
  expect(hers).toMatch(/^Tasks that ann has claimed or is meant to do:\n\[>\] #4: Urgent @ann\n\nTasks of the board/)
  expect(hers).toContain('--as ann"')
})

it('session-start prints nothing for a board without claimable tasks', async () => {
  await using place = await chain()
  for (const number of ['1', '2', '3']) await place.errand('board', 'done', number)
  expect(await hook(place, 'session-start')).toEqual(nothing)
})

it('session-start prints at most 8,000 characters, which include the next command', async () => {
  await using place = new Workplace()
  const long = 'x'.repeat(100_000)
  await place.errand('board', 'add', 'First', '--description', long)
  const blockers = Array.from({ length: 30 }, (_, n) => n + 1)
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  for (const number of blockers.slice(1)) {
    await engine.bus.call('board:create', { subject: `${number} ${long.slice(0, 5_000)}` })
  }
  await engine.bus.call('board:create', { subject: 'Last', blockedBy: blockers, description: long })
  for (const id of blockers) await engine.bus.call('board:update', { id, status: 'completed', result: long })
  const context = contextOf(await hook(place, 'session-start', { env: { ERRAND_TASK_ID: '31' } }))
  expect(context.length).toBeLessThanOrEqual(8_000)
  expect(context).toMatch(/"errand board claim 31 --as NAME", or the tool board_claim\.$/)
})

it('session-start finds the ledger from the folder of the session', async () => {
  await using place = new Workplace()
  const project = join(place.folder, 'project')
  mkdirSync(join(project, 'deep'), { recursive: true })
  await place.errand('board', 'add', 'Here', '--ledger', join(project, '.errand', 'ledger.db'))
  const input = { session_id: 's', cwd: join(project, 'deep'), hook_event_name: 'SessionStart', source: 'compact' }
  const found = await hook(place, 'session-start', { env: { ERRAND_LEDGER: '' }, input })
  expect(contextOf(found)).toContain('[ ] #1: Here')
})

async function withTeam() {
  const place = await chain()
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  const objectives = ['Find the cause', 'Repair it']
  const { taskId } = await engine.bus.call('task:create', { name: 'Repair the login', objectives })
  await engine.bus.call('agent:join', { taskId, agentId: 'anna', objectives: [1] })
  await engine.bus.call('mem:observe', {
    sessionId: 's',
    taskId,
    agentId: 'anna',
    type: 'discovery',
    content: 'No cookie.',
  })
  await engine.bus.call('agent:complete', { taskId, agentId: 'anna', summary: 'Found it.' })
  const part = await engine.create({ name: 'Repair the cookie', parentId: taskId })
  return { place, taskId, part: part.id }
}

it('S2-047 session-start prints the context of the team and the state of the task', async () => {
  const { place, taskId } = await withTeam()
  await using _gone = place
  for (const variable of ['ERRAND_TASK_ID', 'BM_TASK_ID', 'DAY1_TASK_ID']) {
    const context = contextOf(await hook(place, 'session-start', { env: { [variable]: taskId } }))
    expect(context).toContain('Task Context: Repair the login')
    expect(context).toContain('[DONE] 1. Find the cause (anna)\n[TODO] 2. Repair it')
    expect(context).toContain('- anna: Found it.')
    expect(context).toContain('No cookie.')
    expect(context).toContain('Task 4 of the board: Repair the login\nStatus: pending')
    expect(context).toMatch(/"errand board claim 4 --as NAME", or the tool board_claim\.$/)
  }
})

it('S2-047 session-start prefers a task in the argument to the environment, and finds the team of a parent', async () => {
  const { place, part } = await withTeam()
  await using _gone = place
  const args = [part, '--timeout', '1m']
  const context = contextOf(await hook(place, 'session-start', { env: { ERRAND_TASK_ID: '1' }, args }))
  expect(context).toContain('Task Context: Repair the login')
  expect(context).toContain('of the board: Repair the cookie')
})

it('S2-047 S2-059 session-start prints the command that records observations under the id of the session', async () => {
  const { place, part, taskId } = await withTeam()
  await using _gone = place
  const input = { session_id: 'abc' }
  const context = contextOf(
    await hook(place, 'session-start', { env: { BM_TASK_ID: part, ERRAND_AGENT: 'zoe' }, input }),
  )
  const [, command = ''] = /team: errand (memory observe .*) TEXT \(/.exec(context) ?? []
  expect(command).toMatch(/^memory observe --task \w+ --agent zoe --session abc --type insight$/)
  expect(await place.errand(...command.split(' '), 'Cookies expire too early.')).toMatchObject({ code: 0, err: '' })
  await hook(place, 'session-end', { env: { BM_TASK_ID: part }, input })
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  const { keyFacts } = await engine.task.context({ taskId })
  expect(keyFacts.map(({ text, agentId }) => [text, agentId])).toContainEqual(['Cookies expire too early.', 'zoe'])
  // Without a session id, no session-end would consolidate the observations.
  expect(contextOf(await hook(place, 'session-start', { env: { BM_TASK_ID: part } }))).not.toContain('memory observe')
})

it('S2-049 session-start prints nothing for an unknown task, and exits with 0', async () => {
  const { place } = await withTeam()
  await using _gone = place
  expect(await hook(place, 'session-start', { env: { BM_TASK_ID: 'task-of-another-program' } })).toEqual(nothing)
  expect(await hook(place, 'session-start', { args: ['nowhere', '--timeout', '1m'] })).toEqual(nothing)
})

it('session-start prints at most 8,000 characters with a long team context', async () => {
  await using place = new Workplace()
  const long = 'x'.repeat(5_000)
  await place.errand('board', 'add', 'First')
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  const objectives = Array.from({ length: 200 }, (_, n) => `${n} ${long}`)
  const { taskId } = await engine.bus.call('task:create', { name: 'Much', description: long, objectives })
  const context = contextOf(await hook(place, 'session-start', { env: { ERRAND_TASK_ID: taskId } }))
  expect(context.length).toBeLessThanOrEqual(8_000)
  expect(context).toContain('Task Context: Much')
  expect(context).toContain('Task 2 of the board: Much\nStatus: pending')
})

it('S2-059 session-end consolidates the observations of the session on every branch, with or without a task', async () => {
  await using place = await chain()
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  const { taskId, branch } = await engine.bus.call('task:create', { name: 'Repair the login' })
  const seen = { sessionId: 'abc', type: 'decision' } as const
  await engine.bus.call('mem:observe', { ...seen, taskId, content: 'The cookie has to be strict.' })
  await engine.bus.call('mem:observe', { ...seen, content: 'We deploy on Mondays.' })
  await engine.bus.call('mem:observe', { ...seen, sessionId: 'other', content: 'Not yet.' })
  const texts = async (of: string) => (await engine.bus.call('mem:facts', { branch: of })).facts.map(({ text }) => text)
  const input = { session_id: 'abc', reason: 'logout' }
  expect(await hook(place, 'session-end', { input })).toEqual(nothing)
  expect(await texts(branch as string)).toEqual(['The cookie has to be strict.'])
  expect(await texts('main')).toEqual(['We deploy on Mondays.'])
  // A second end changes nothing, and neither does a session without observations.
  expect(await hook(place, 'session-end', { input, env: { ERRAND_TASK_ID: taskId } })).toEqual(nothing)
  expect(await hook(place, 'session-end', { input: { session_id: 'unheard of' } })).toEqual(nothing)
  expect(await texts('main')).toEqual(['We deploy on Mondays.'])
  expect((await engine.messages(taskId)).map(({ content }) => content)).toEqual([
    expect.stringMatching(/^Session abc ended at/),
  ])
})

const input = { session_id: 'abc', reason: 'logout', transcript_path: '/tmp/t.jsonl', cwd: '/nowhere' }

it('session-end leaves a note that the next session reads, and keeps the claim', async () => {
  await using place = await chain()
  await place.errand('board', 'claim', '1', '--as', 'ann', '--lease', '1h')
  const env = { ERRAND_TASK_ID: '1', ERRAND_AGENT: 'ann' }
  expect(await hook(place, 'session-end', { env, input })).toEqual(nothing)
  const context = contextOf(await hook(place, 'session-start', { env }))
  expect(context).toMatch(
    /Latest messages:\n- \S+Z assistant: Session abc of ann ended at \S+Z; reason: logout; transcript: \/tmp\/t\.jsonl\n/,
  )
  expect(context).toContain('claimed by ann (claim 1), lease until')
})

it('session-end writes a note that an agent of the engine does not read', async () => {
  await using place = new Workplace()
  const added = await place.errand('add', 'run', '--run', 'true')
  await hook(place, 'session-end', { env: { DAY1_TASK_ID: added.out.trim() }, input })
  await using engine = await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })
  expect(await engine.messages(added.out.trim())).toMatchObject([
    { announcement: true, content: expect.stringMatching(/^Session abc ended at/) },
  ])
})

it('session-end writes no note without a task, and accepts any input', async () => {
  await using place = await chain()
  expect(await hook(place, 'session-end', { input })).toEqual(nothing)
  const env = { ERRAND_TASK_ID: '1' }
  for (const odd of ['', 'no json', '[]', { session_id: 7, cwd: {}, reason: null }]) {
    expect(await hook(place, 'session-end', { env, input: odd })).toEqual(nothing)
  }
  const { out } = await place.errand('board', 'show', '1')
  expect(out.match(/Session without an id ended/g)).toHaveLength(4)
})

describe.each(['session-start', 'session-end'])('errand hook %s exits with 0', (name) => {
  const env = { ERRAND_TASK_ID: '1' }

  it('a session hook exits with 0 without a ledger, and creates none', async () => {
    await using place = new Workplace()
    expect(await hook(place, name, { env })).toEqual(nothing)
    expect(await place.errand('board')).toMatchObject({ code: 2, err: expect.stringContaining('no ledger') })
    const debug = await hook(place, name, { env: { ...env, ERRAND_DEBUG: '1' } })
    expect(debug).toMatchObject({ code: 0, out: '', err: expect.stringMatching(/^errand: There is no ledger at/) })
  })

  it.each([
    ['an invalid ledger', (place: Workplace) => place.write('ledger.db', 'not a database'.repeat(100)), []],
    ['an unknown option', () => {}, ['--tusk', '1']],
    ['an argument too many', () => {}, ['now']],
    ['an invalid time', () => {}, ['--timeout', 'soon']],
    ['an unknown board', () => {}, ['--board', 'none']],
  ])('a session hook exits with 0 with %s', async (_what, prepare: (place: Workplace) => void, args: string[]) => {
    await using place = await chain()
    prepare(place)
    expect(await hook(place, name, { env, args: [...args] })).toMatchObject({ code: 0, out: '', err: '' })
  })

  it('a session hook exits with 0 by itself when its input never ends', async () => {
    await using place = await chain()
    const io = fakeIo({ cwd: place.folder, env: { ...env, ERRAND_LEDGER: join(place.folder, 'ledger.db') } })
    const endless = new Readable({ read() {} })
    io.input = () => endless
    expect(await main(['hook', name, '--timeout', '1m'], io)).toBe(0)
    expect({ err: io.err(), exited: io.exited }).toEqual({ err: '', exited: [] })
  })

  it('a session hook exits with 0 after its timeout when another process holds the ledger', async () => {
    vi.stubEnv('ERRAND_DEBUG', '1')
    vi.stubEnv('ERRAND_TASK_ID', '1')
    await using place = new Workplace()
    vi.unstubAllEnvs()
    // The task has no number on the board yet, and assigning one is a write.
    await place.errand('add', 'Parse')
    const holder = new Database(join(place.folder, 'ledger.db'))
    holder.exec('BEGIN IMMEDIATE')
    const ended = await place.start('hook', name, '--timeout', '500ms').ended
    holder.exec('ROLLBACK')
    holder.close()
    expect(ended).toEqual({
      code: 0,
      out: '',
      err: 'errand: The hook took longer than 500 ms and was ended.\n',
    })
  })
})

const written = (place: Workplace) => JSON.parse(readFileSync(join(place.folder, '.claude/settings.json'), 'utf8'))

it('errand hook install prints settings that call both hooks, and writes nothing', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('hook', 'install')
  const { hooks } = JSON.parse(out)
  expect(hooks.SessionStart[0].hooks[0]).toMatchObject({
    type: 'command',
    command: 'npx --no-install errand hook session-start',
  })
  expect(hooks.SessionEnd[0].hooks[0].command).toBe('npx --no-install errand hook session-end')
  expect(() => written(place)).toThrow('ENOENT')
})

it('errand hook install --write adds the hooks once, and keeps other settings', async () => {
  await using place = new Workplace()
  mkdirSync(join(place.folder, '.claude'))
  const other = { matcher: 'startup', hooks: [{ type: 'command', command: 'date' }] }
  writeFileSync(
    join(place.folder, '.claude/settings.json'),
    JSON.stringify({ model: 'opus', hooks: { SessionStart: [other], Stop: [other] } }),
  )
  expect((await place.errand('hook', 'install', '--write')).out).toContain('now calls the hooks')
  const settings = written(place)
  expect(settings).toMatchObject({
    model: 'opus',
    hooks: { SessionStart: [other, {}], Stop: [other], SessionEnd: [{}] },
  })
  expect((await place.errand('hook', 'install', '--write')).out).toContain('already')
  expect(written(place)).toEqual(settings)
})

it('errand hook install --write does not change a file that it cannot parse', async () => {
  await using place = new Workplace()
  place.write('settings.json', '{ "hooks": [] ')
  const refused = await place.errand('hook', 'install', '--write', '--settings', 'settings.json')
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('errand hook install') })
  expect(readFileSync(join(place.folder, 'settings.json'), 'utf8')).toBe('{ "hooks": [] ')
  const folder = await place.errand('hook', 'install', '--write', '--settings', '.')
  expect(folder).toMatchObject({ code: 2, err: expect.stringMatching(/^errand: Cannot read .*\n$/) })
})

it('errand hook without a name lists the hooks', async () => {
  await using place = new Workplace()
  expect(await place.errand('hook')).toMatchObject({ code: 2, err: expect.stringContaining('session-start') })
})

it('docs/guides/board.md shows the settings that errand hook install writes', async () => {
  await using place = new Workplace()
  const page = readFileSync(new URL('../../../docs/guides/board.md', import.meta.url), 'utf8')
  const shown = /```json\n([\s\S]*?"SessionStart"[\s\S]*?)```/.exec(page)?.[1] ?? ''
  expect(JSON.parse(shown)).toEqual(JSON.parse((await place.errand('hook', 'install')).out))
})
