// Teams on the command line: joining, working on and leaving a task, its objectives, and its completion.
import { expect, it } from 'vitest'
import { main } from '../../../src/surfaces/cli/main.ts'
import { fakeIo } from './fake-io.ts'
import { Workplace } from './workplace.ts'

const json = ({ out }: { out: string }) => JSON.parse(out)
const jsonLines = ({ out }: { out: string }) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
const errorOf = ({ err }: { err: string }) => JSON.parse(err).error

/** A task with two objectives, which ann has joined for the first. */
async function team(): Promise<Workplace> {
  const place = new Workplace()
  await place.errand('add', 'Fix auth', '--type', 'repair', '--objective', 'Find it', '--objective', 'Mend it')
  await place.errand('task', 'join', '#1', '--as', 'ann', '--role', 'implementer', '--objective', '1')
  return place
}

function observe(place: Workplace, agent: string, type: string, text: string, session = `${agent}-1`) {
  const where = ['--session', session, '--type', type, '--task', '#1', '--agent', agent]
  return place.errand('memory', 'observe', ...where, text)
}

it('errand help task describes each verb, and errand task lists them', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('help', 'task')
  const names = Array.from(out.matchAll(/^ {2}([a-z]+) {2,}\S/gm), ([, name]) => name as string)
  expect(names.join(' ')).toBe('context join leave objectives objective complete teams types timeline')
  for (const name of names) {
    const help = await place.errand('help', 'task', name)
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: errand task ${name}`) })
    expect(await place.errand('task', name, '--help')).toEqual(help)
  }
  expect(await place.errand('task')).toMatchObject({ code: 2, err: expect.stringContaining('context, join') })
  expect(await place.errand('task', 'jion')).toMatchObject({ code: 2, err: expect.stringContaining('"join"') })
})

it('errand task does not create a ledger for reading', async () => {
  await using place = new Workplace()
  expect(await place.errand('task', 'teams')).toMatchObject({ code: 2, err: expect.stringContaining('no ledger') })
  expect(place.lines('ledger.db')).toEqual([])
})

it('errand task join, context and leave use the agent from the environment, and print values with --json', async () => {
  await using place = await team()
  const env = { ERRAND_LEDGER: `${place.folder}/ledger.db`, ERRAND_AGENT: 'bob', ERRAND_OWNER: 'ann' }
  const asBob = async (...args: string[]) => {
    const io = fakeIo({ cwd: place.folder, env })
    expect(await main(['task', ...args, '--json'], io)).toBe(0)
    return io.out()
  }
  expect(JSON.parse(await asBob('join', '#1', '--role', 'reviewer', '--objective', '2'))).toMatchObject({
    branch: 'task/fix-auth/bob',
  })
  expect(jsonLines({ out: await asBob('objective', '#1', '1', 'blocked', '--note', 'no access') })).toMatchObject([
    { id: 1, status: 'blocked', agentId: 'bob', notes: 'no access' },
    { id: 2, status: 'active', agentId: 'bob' },
  ])
  expect(JSON.parse(await asBob('leave', '#1'))).toMatchObject({ merged: 0, conflicts: [] })
  expect(json(await place.errand('task', 'context', '#1', '--json'))).toMatchObject({
    activeAgents: [{ agentId: 'ann' }],
    objectives: [{ status: 'blocked' }, { status: 'done' }],
  })
  expect(jsonLines(await place.errand('task', 'timeline', 'bob', '--json'))).toMatchObject([
    { status: 'completed', role: 'reviewer' },
  ])
})

it('S2-010 S2-012 S2-048 errand task join creates a branch for the agent and prints the context of the task', async () => {
  await using place = await team()
  const joined = await place.errand('task', 'join', '#1', '--as', 'bob')
  expect(joined).toMatchObject({ code: 0, err: '' })
  const [first, observe, leave, , ...context] = joined.out.split('\n')
  expect(first).toBe('bob works on #1 Fix auth, on the branch task/fix-auth/bob')
  // The suggested commands work.
  expect(observe).toMatch(/^ {4}errand memory observe --task '#\d+' --agent bob --session NAME --type insight TEXT$/)
  const [, ...asTyped] = (observe as string).trim().replaceAll("'", '').split(' ')
  expect(await place.errand(...asTyped)).toMatchObject({ code: 0, err: '' })
  expect(leave).toMatch(/^ {4}errand task leave '#\d+' --as bob$/)
  expect(context.join('\n')).toContain('Task Context')
  expect(context.join('\n')).toMatch(/\[ACTIVE\].*Find it[\s\S]*\[TODO\].*Mend it/)
  expect(await place.errand('task', 'context', '#1')).toEqual({ code: 0, out: context.join('\n'), err: '' })

  const object = json(await place.errand('task', 'context', '#1', '--json'))
  expect(object).toMatchObject({
    task: { name: 'Fix auth', type: 'repair', branch: 'task/fix-auth' },
    activeAgents: [
      { agentId: 'ann', role: 'implementer', objectives: [1] },
      { agentId: 'bob', role: null, objectives: [] },
    ],
    progress: { total: 2, done: 0, active: 1, todo: 1, blocked: 0 },
  })
})

it('S2-013 S2-015 errand task join refuses a second join, an unknown objective, and a missing name', async () => {
  await using place = await team()
  const twice = await place.errand('task', 'join', '#1', '--as', 'ann', '--json')
  expect(twice.code).toBe(2)
  expect(errorOf(twice)).toMatchObject({
    code: 'ALREADY_ACTIVE',
    message: expect.stringContaining('"errand task leave'),
  })
  const unknown = await place.errand('task', 'join', '#1', '--as', 'bob', '--objective', '1,9', '--json')
  expect(unknown.code).toBe(2)
  expect(errorOf(unknown)).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('9') })
  expect(await place.errand('task', 'join', '#1', '--as', 'bob', '--objective', 'x')).toMatchObject({ code: 2 })
  expect(await place.errand('task', 'join', '#1')).toMatchObject({ code: 2, err: expect.stringContaining('--as') })
  expect(await place.errand('task', 'join', '#9', '--as', 'bob')).toMatchObject({ code: 2 })
  expect(json(await place.errand('task', 'context', '#1', '--json')).activeAgents).toHaveLength(1)
})

it('S2-023 S2-028 errand task objective changes states and notes, and objectives --add adds some', async () => {
  await using place = await team()
  expect((await place.errand('task', 'objectives', '#1')).out).toBe(
    ['n  status  agent  objective', '1  active  ann    Find it', '2  todo           Mend it', ''].join('\n'),
  )
  const moved = await place.errand('task', 'objective', '#1', '2', 'blocked', '--as', 'ann', '--note', 'no access')
  expect(moved.out).toContain('2  blocked  ann    Mend it (no access)')
  const more = await place.errand('task', 'objectives', '#1', '--add', 'Report it', '--json')
  expect(jsonLines(more)).toMatchObject([
    { id: 1, status: 'active' },
    { id: 2, status: 'blocked', agentId: 'ann', notes: 'no access' },
    { id: 3, status: 'todo', description: 'Report it' },
  ])
  expect(await place.errand('task', 'objective', '#1', '2', 'dnoe')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Did you mean "done"?'),
  })
  const unknown = await place.errand('task', 'objective', '#1', '9', 'done', '--json')
  expect(unknown.code).toBe(2)
  expect(errorOf(unknown)).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('Objective 9') })
})

it('errand show prints branch, type and progress of a task with a team, and not of others', async () => {
  await using place = await team()
  await place.errand('add', 'Plain')
  await place.errand('task', 'objective', '#1', '1', 'done')
  const { out } = await place.errand('show', '#1')
  expect(out).toMatch(/^branch +task\/fix-auth$/m)
  expect(out).toMatch(/^type +repair$/m)
  expect(out).toMatch(/^objectives +1 of 2 done: "errand task context '#\d+'"$/m)
  expect(json(await place.errand('show', '#1', '--json')).team).toMatchObject({
    branch: 'task/fix-auth',
    type: 'repair',
    progress: { total: 2, done: 1 },
  })
  expect((await place.errand('show', '#2')).out).not.toMatch(/^(branch|type|objectives)/m)
  expect(json(await place.errand('show', '#2', '--json'))).not.toHaveProperty('team')
})

it('errand task objectives says that a task has none', async () => {
  await using place = new Workplace()
  await place.errand('add', 'Plain')
  expect(await place.errand('task', 'objectives', '#1')).toEqual({
    code: 0,
    out: 'The task has no objectives.\n',
    err: '',
  })
})

it('S2-019 errand task leave merges the facts of the agent, and completes its active objectives', async () => {
  await using place = await team()
  await observe(place, 'ann', 'decision', 'Refresh the token in the middleware')
  await observe(place, 'ann', 'insight', 'The login form is slow')
  const left = await place.errand('task', 'leave', '#1', '--as', 'ann', '--summary', 'The middleware\nrefreshes.')
  expect(left).toEqual({
    code: 0,
    out: 'ann has left #1 Fix auth: 2 facts merged\n  The middleware\n  refreshes.\n',
    err: '',
  })
  expect(json(await place.errand('task', 'context', '#1', '--json'))).toMatchObject({
    objectives: [{ status: 'done' }, { status: 'todo' }],
    activeAgents: [],
    agentSummaries: [{ agentId: 'ann', role: 'implementer', summary: 'The middleware\nrefreshes.' }],
  })
  const again = await place.errand('task', 'leave', '#1', '--as', 'ann', '--json')
  expect(again.code).toBe(2)
  expect(errorOf(again)).toMatchObject({ code: 'NOT_ACTIVE', message: expect.stringContaining('"errand task join') })
  await place.errand('task', 'join', '#1', '--as', 'ann')
  expect(json(await place.errand('task', 'leave', '#1', '--as', 'ann', '--json'))).toMatchObject({
    merged: 0,
    rejected: 0,
    conflicts: [],
    consolidation: { observationsProcessed: 0, factsCreated: 0 },
  })
})

it('S2-031 S2-034 S2-035 errand task complete merges durable facts into the branch above, and the others stay; once', async () => {
  await using place = await team()
  for (const session of ['a', 'b'])
    await observe(place, 'ann', 'decision', 'Refresh the token in the middleware', session)
  await observe(place, 'ann', 'insight', 'The login form is slow')
  const early = await place.errand('task', 'complete', '#1', '--json')
  expect(early.code).toBe(2)
  expect(errorOf(early)).toMatchObject({ code: 'AGENTS_ACTIVE', details: { agents: ['ann'] } })
  const open = await place.errand('task', 'complete', '#1', '--complete-agents', '--require-objectives', '--json')
  expect(open.code).toBe(2)
  expect(errorOf(open).code).toBe('OBJECTIVES_OPEN')

  const done = await place.errand('task', 'complete', '#1', '--complete-agents', '--summary', 'Fixed.')
  expect(done).toEqual({
    code: 0,
    out: '#1 Fix auth completed: 1 fact durable, 1 not\n  1 fact merged\n',
    err: '',
  })
  expect(jsonLines(await place.errand('memory', '--json'))).toMatchObject([
    { text: 'Refresh the token in the middleware', category: 'decision', branch: 'main' },
  ])
  const again = json(await place.errand('task', 'complete', '#1', '--json'))
  expect(again).toMatchObject({ status: 'completed', merge: { merged: 1 } })
  expect(
    jsonLines(await place.errand('memory', 'history', '--type', 'merge', '--branch', 'main', '--json')),
  ).toHaveLength(1)
})

it('S2-033 S2-037 errand task complete --no-merge --archive leaves all facts on branches that accept no new ones', async () => {
  await using place = await team()
  for (const session of ['a', 'b'])
    await observe(place, 'ann', 'decision', 'Refresh the token in the middleware', session)
  await place.errand('task', 'leave', '#1', '--as', 'ann')
  const done = json(await place.errand('task', 'complete', '#1', '--no-merge', '--archive', '--json'))
  expect(done).toMatchObject({ status: 'completed', merge: null, ephemeral: 0 })
  expect(done.durable).toHaveLength(1)
  expect((await place.errand('memory', '--json')).out).toBe('')
  expect(jsonLines(await place.errand('memory', '--branch', 'task/fix-auth', '--json'))).not.toEqual([])
  const late = await place.errand('memory', 'remember', 'Late', '--branch', 'task/fix-auth', '--json')
  expect(late.code).toBe(2)
  expect(errorOf(late).code).toBe('BRANCH_CLOSED')
})

it('errand task complete is for the owner of a claimed task only', async () => {
  await using place = new Workplace()
  await place.errand('add', 'Fix auth', '--team')
  await place.errand('claim', '#1', '--as', 'ann')
  expect(await place.errand('task', 'complete', '#1')).toMatchObject({
    code: 1,
    err: expect.stringContaining('#1 Fix auth is claimed by ann'),
  })
  expect(await place.errand('task', 'complete', '#1', '--as', 'ann', '--fence', '2')).toMatchObject({ code: 1 })
  expect(await place.errand('task', 'complete', '#1', '--as', 'ann', '--fence', '1')).toMatchObject({
    code: 0,
    out: '#1 Fix auth completed: 0 facts durable, 0 not\n  0 facts merged\n',
  })
  expect(await place.task('Fix auth')).toMatchObject({ status: 'completed', owner: 'ann' })
})

it('errand task removes escape sequences from names and observations', async () => {
  await using place = new Workplace()
  const evil = 'evil \u001b]0;title\u0007\u001b[31mname'
  await place.errand('add', evil, '--type', evil, '--objective', evil)
  for (const args of [
    ['join', '#1', '--as', evil, '--role', evil],
    ['objective', '#1', '1', 'active', '--note', evil],
    ['context', '#1'],
    ['teams'],
    ['types'],
    ['timeline', evil],
    ['leave', '#1', '--as', evil, '--summary', evil],
    ['timeline', evil],
    ['complete', '#1', '--summary', evil],
  ]) {
    const { code, out } = await place.errand('task', ...args)
    expect({ args, code, hasEscape: out.includes('\u001b') }).toEqual({ args, code: 0, hasEscape: false })
  }
})

it('errand task teams and types say that there are no teams', async () => {
  await using place = new Workplace()
  await place.errand('add', 'No team')
  for (const verb of ['teams', 'types']) {
    expect(await place.errand('task', verb)).toEqual({ code: 0, out: 'No teams.\n', err: '' })
    expect(await place.errand('task', verb, '--json')).toEqual({ code: 0, out: '', err: '' })
  }
})

it('S2-007 errand task teams lists the latest first, filtered by state and type', async () => {
  await using place = await team()
  await place.errand('add', 'Write docs', '--type', 'docs')
  await place.errand('add', 'No team')
  await place.errand('task', 'complete', '#2')
  const { out } = await place.errand('task', 'teams')
  expect(out.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
    'task status type branch name',
    '#2 completed docs task/write-docs Write docs',
    '#1 submitted repair task/fix-auth Fix auth',
    '',
  ])
  const named = async (...args: string[]) =>
    jsonLines(await place.errand('task', 'teams', '--json', ...args)).map(({ name }) => name)
  expect(await named('--status', 'submitted')).toEqual(['Fix auth'])
  expect(await named('--type', 'docs')).toEqual(['Write docs'])
  expect(await named('--limit', '1')).toEqual(['Write docs'])
  expect(await place.errand('task', 'teams', '--status', 'submited')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Did you mean "submitted"?'),
  })
})

it('S2-107 errand task types compares tasks by type, and timeline lists the work of an agent', async () => {
  await using place = await team()
  await place.errand('add', 'Fix more', '--type', 'repair')
  await place.errand('task', 'join', '#2', '--as', 'ann')
  await place.errand('task', 'leave', '#2', '--as', 'ann', '--summary', 'More is fixed.')
  await place.errand('task', 'complete', '#2')
  expect(jsonLines(await place.errand('task', 'types', '--json'))).toMatchObject([
    { type: 'repair', total: 2, completed: 1, failed: 0, successRate: 1 },
  ])
  expect((await place.errand('task', 'types')).out).toMatch(/^repair +2 +1 +0 +100 % +\d/m)
  expect(jsonLines(await place.errand('task', 'timeline', 'ann', '--json'))).toMatchObject([
    { taskName: 'Fix more', status: 'completed', summary: 'More is fixed.' },
    { taskName: 'Fix auth', status: 'active', role: 'implementer' },
  ])
  const latest = jsonLines(await place.errand('task', 'timeline', 'ann', '--limit', '1', '--json'))
  expect(latest.map(({ taskName }) => taskName)).toEqual(['Fix more'])
  expect((await place.errand('task', 'timeline', 'ann')).out).toMatch(/works.*implementer.*Fix auth/)
  expect((await place.errand('task', 'timeline', 'eve')).out).toBe('The agent has not worked on any task.\n')
})
