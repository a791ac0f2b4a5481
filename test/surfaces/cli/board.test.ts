// The board on the command line: its verbs, their output, and their JSON.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

/** setup → code → tests */
async function chain(): Promise<Workplace> {
  const place = new Workplace()
  await place.errand('board', 'add', 'Set up the project')
  await place.errand('board', 'add', 'Write code', '--after', '1', '--description', 'All of\nit.')
  await place.errand('board', 'add', 'Write tests', '--after', '2')
  return place
}

it('errand board prints one line per task, with blockers and owner', async () => {
  await using place = await chain()
  await place.errand('board', 'claim', '1', '--as', 'ann')
  expect(await place.errand('board')).toEqual({
    code: 0,
    out: [
      '[>] #1: Set up the project @ann',
      '[ ] #2: Write code (blocked by: [1])',
      '[ ] #3: Write tests (blocked by: [2])',
      '',
    ].join('\n'),
    err: '',
  })
  expect(jsonLines(await place.errand('board', '--json'))).toMatchObject([
    { id: 1, status: 'in_progress', owner: 'ann' },
    { id: 2, blockedBy: [1], dependencies: [1] },
    { id: 3 },
  ])
})

it('errand board lists claimable tasks, tasks in a state, and tasks of an owner', async () => {
  await using place = await chain()
  await place.errand('board', 'add', 'Urgent', '--priority', '9')
  expect((await place.errand('board', '--ready')).out).toBe('[ ] #4: Urgent\n[ ] #1: Set up the project\n')
  await place.errand('board', 'claim', 'next', '--as', 'ann')
  expect((await place.errand('board', '--owner', 'ann')).out).toBe('[>] #4: Urgent @ann\n')
  await place.errand('board', 'done', '4', '--as', 'ann')
  const some = await place.errand('board', '--status', 'completed', '--status', 'in_progress')
  expect(some.out).toBe('[x] #4: Urgent @ann\n')
  expect((await place.errand('board', '--status', 'failed')).out).toBe('No tasks.\n')
  expect(await place.errand('board', '--status', 'runing')).toMatchObject({ code: 2 })
  expect(await place.errand('board', '--ready', '--owner', 'ann')).toMatchObject({ code: 2 })
})

it('errand board removes escape sequences from the names of tasks', async () => {
  await using place = new Workplace()
  await place.errand('board', 'add', 'evil \u001b]0;title\u0007\u001b[31mname', '--description', 'a\u001b[2Jb')
  for (const args of [['board'], ['board', 'show', '1'], ['board', 'claim', '1', '--as', 'x\u001b[5m']]) {
    expect((await place.errand(...args)).out).not.toContain('\u001b')
  }
})

it('errand board colours lines by state on a terminal, and cuts them to its width', async () => {
  await using place = await chain()
  await place.errand('board', 'add', 'x'.repeat(200))
  const io = fakeIo({ tty: true, cwd: place.folder, env: { ERRAND_LEDGER: `${place.folder}/ledger.db` } })
  expect(await main(['board'], io)).toBe(0)
  const [first, , , long] = io.out().split('\n')
  expect(first).toBe('\u001b[33m[ ]\u001b[0m #1: Set up the project')
  expect(long).toMatch(/^\S+\[ \]\S+ #4: x{70,}…$/)
})

it('errand board does not create a ledger for reading', async () => {
  await using place = new Workplace()
  expect(await place.errand('board')).toMatchObject({ code: 2, err: expect.stringContaining('no ledger') })
  expect(place.lines('ledger.db')).toEqual([])
})

it('errand help board describes each verb, and a misspelled verb gets a suggestion', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('help', 'board')
  expect(out).toContain('Usage: errand board')
  const names = Array.from(out.matchAll(/^ {2}([a-z]+) {2,}\S/gm), ([, name]) => name as string)
  expect(names).toEqual(expect.arrayContaining(['init', 'claim', 'done', 'inbox', 'sync']))
  for (const name of names) {
    const help = await place.errand('help', 'board', name)
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: errand board ${name}`) })
    expect(await place.errand('board', name, '--help')).toEqual(help)
  }
  expect(await place.errand('board', 'cliam')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Did you mean "claim"?'),
  })
})

it('errand board add creates a task with blockers, parent and all fields', async () => {
  await using place = await chain()
  const fields = ['--role', 'reviewer', '--tag', 'a', '--tag', 'b', '--priority=-3', '--owner', 'bob', '--parent', '1']
  const added = await place.errand('board', 'add', 'Review', '--after', '1,2', '--after', '#3', ...fields, '--json')
  expect(json(added)).toMatchObject({
    id: 4,
    subject: 'Review',
    blockedBy: [1, 2, 3],
    role: 'reviewer',
    tags: ['a', 'b'],
    priority: -3,
    owner: 'bob',
    parent: 1,
  })
  expect((await place.errand('board', 'add', '  ')).code).toBe(2)
  expect((await place.errand('board', 'add', 'x', '--after', '9')).err).toBe('errand: Task 9 not found\n')
  expect((await place.errand('board', 'add', 'x', '--priority', 'high')).code).toBe(2)
  expect(jsonLines(await place.errand('board', '--json'))).toHaveLength(4)
})

it('errand board claim prints the command that completes the task, and done prints the unblocked tasks', async () => {
  await using place = await chain()
  await place.errand('board', 'done', '1')
  const claimed = await place.errand('board', 'claim', '2', '--as', 'ann', '--lease', '5m')
  expect(claimed.out).toMatch(
    /^\[>\] #2: Write code @ann\n {2}claimed by ann \(claim 1\), lease until \S+Z\n {2}All of\n {2}it\.\n {4}errand board done 2 --as ann --fence 1\n$/,
  )
  const command = (claimed.out.trim().split('\n').at(-1) ?? '').trim().split(' ').slice(1)
  expect(await place.errand(...command, 'went', 'well')).toEqual({
    code: 0,
    out: '[x] #2: Write code @ann\n    #3 unblocked: Write tests\n',
    err: '',
  })
  expect(json(await place.errand('board', 'show', '2', '--json'))).toMatchObject({
    result: 'went well',
    owner: 'ann',
  })
})

it('errand board done is for the owner of a task only, and requires the fence of a claim with a lease', async () => {
  await using place = await chain()
  await place.errand('board', 'claim', '1', '--as', 'ann', '--lease', '5m')
  const foreign = await place.errand('board', 'done', '1', '--as', 'bob', '--json')
  expect(foreign.code).toBe(1)
  expect(errorOf(foreign)).toMatchObject({ code: 'NOT_OWNER', message: expect.stringContaining('ann') })
  expect(errorOf(await place.errand('board', 'done', '1', '--json')).code).toBe('NOT_OWNER')
  expect(errorOf(await place.errand('board', 'done', '1', '--as', 'ann', '--json')).code).toBe('STALE_CLAIM')
  expect((await place.errand('board', 'done', '1')).err).toBe(
    'errand: Task 1 is claimed by ann: give your name with --as NAME or ERRAND_AGENT.\n',
  )
  expect((await place.errand('board', 'release', '#1', '--as', 'ann')).err).toContain(
    'on task 1 has a lease, so its number is required: --fence N',
  )
  expect((await place.errand('board', 'done', '1', '--as', 'ann', '--fence', '7')).err).toContain(
    'The claim of ann (number 7) on task 1 is not valid',
  )
  expect(await place.errand('board', 'done', '1', '--fence', '1')).toMatchObject({ code: 2 })
  expect(await place.errand('board', 'done', '1', '--as', 'ann', '--fence', '1')).toMatchObject({ code: 0 })
})

it('errand board claim refuses a claimed or blocked task, and names the owner or the blockers', async () => {
  await using place = await chain()
  await place.errand('board', 'claim', '1', '--as', 'ann')
  const taken = await place.errand('board', 'claim', '1', '--as', 'bob')
  expect(taken).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/ann/) })
  const blocked = await place.errand('board', 'claim', '3', '--as', 'bob')
  expect(blocked).toMatchObject({ code: 2, err: 'errand: Task 3 is blocked by [2]: complete it first\n' })
  expect(await place.errand('board', 'claim', 'next', '--as', 'bob')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Nothing can be claimed now. In progress: 1 (ann). Blocked by other tasks: 2, 3.'),
  })
  expect((await place.errand('board', 'claim', '1')).err).toContain('--as NAME, or set ERRAND_AGENT=NAME')
})

it('errand board release frees a task for others, and log shows the reason', async () => {
  await using place = await chain()
  await place.errand('board', 'claim', '1', '--as', 'ann', '--role', 'writer')
  expect((await place.errand('board', 'release', '1', '--as', 'bob')).code).toBe(1)
  const released = await place.errand('board', 'release', '1', '--as', 'ann', '--reason', 'lunch')
  expect(released).toMatchObject({ code: 0, out: '[ ] #1: Set up the project\n' })
  await place.errand('board', 'claim', 'next', '--as', 'bob')
  const rows = (await place.errand('board', 'log', '1')).out.split('\n').map((line) => line.replace(/^\S+ +/, ''))
  expect(rows.map((row) => row.trim().split(/ {2,}/))).toMatchObject([
    ['event', 'owner', 'claim', 'role', 'from', 'reason'],
    ['claimed', 'ann', '1', 'writer', 'cli'],
    expect.arrayContaining(['released', 'ann', 'lunch']),
    ['claimed', 'bob', '2', 'cli'],
    [''],
  ])
  expect((await place.errand('board', 'log', '2')).out).toBe('The task was never claimed.\n')
})

it('errand board block and unblock change the blockers of a task; why and graph show them', async () => {
  await using place = await chain()
  await place.errand('board', 'add', 'Publish')
  expect((await place.errand('board', 'block', '4', '--after', '3,1')).out).toContain('(blocked by: [3, 1])')
  const cycle = await place.errand('board', 'block', '1', '--after', '4')
  expect(cycle).toMatchObject({ code: 2, err: expect.stringMatching(/task 1.*task 4/s) })
  const why = await place.errand('board', 'why', '3')
  expect(why.out).toMatch(/task 2/)
  expect(why.out).toContain('[ ] #2: Write code (blocked by: [1])\n')
  const graph = await place.errand('board', 'graph')
  expect(graph.out.split('\n').map((line) => line.slice(0, 7))).toEqual([
    '[ ] #1:',
    '[ ] #2:',
    '[ ] #3:',
    '[ ] #4:',
    '    #1 ',
    '',
  ])
  expect(graph.out).toContain('#1 holds up 3\n')
  expect((await place.errand('board', 'unblock', '2', '--after', '1')).out).toBe('[ ] #2: Write code\n')
  expect((await place.errand('board', 'block', '2')).code).toBe(2)
})

it('errand board show prints blockers, parts and messages of a task', async () => {
  await using place = await chain()
  await place.errand('board', 'done', '1', 'a folder')
  await place.errand('board', 'add', 'A part', '--parent', '2')
  const { out } = await place.errand('board', 'show', '2')
  expect(out).toContain('Task 2 of the board: Write code\nStatus: pending\n')
  expect(out).toContain('\nAll of\nit.\n')
  expect(out).toContain('It comes after:\n- [x] #1: Set up the project\n  Result: a folder\n')
  expect(out).toContain('Its parts:\n- [ ] #4: A part\n')
  const { taskId } = json(await place.errand('board', 'show', '2', '--json'))
  expect((await place.errand('board', 'show', taskId.slice(0, 12))).out).toBe(out)
})

it('errand board rm deletes tasks, and a refusal does not stop the others', async () => {
  await using place = await chain()
  const removed = await place.errand('board', 'rm', '9', '1')
  expect(removed).toEqual({
    code: 2,
    out: '#1 deleted\n    #2 unblocked: Write code\n',
    err: 'errand: Task 9 not found\n',
  })
  expect((await place.errand('board', 'add', 'Next')).out).toBe('[ ] #4: Next\n')
})

it('errand board init --board creates a board with only the tasks below a parent, and its own numbers', async () => {
  await using place = await chain()
  expect(await place.errand('board', 'init', 'files', '--board', 'code', '--parent', '2')).toMatchObject({ code: 0 })
  await place.errand('board', 'add', 'Parse', '--board', 'code')
  expect((await place.errand('board', '--board', 'code')).out).toBe('[ ] #1: Parse\n')
  expect((await place.errand('board')).out).toContain('#4: Parse')
  const missing = await place.errand('board', '--board', 'none')
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('Boards: main, code') })
})

it('errand board send and inbox deliver each message once', async () => {
  await using place = await chain()
  expect(await place.errand('board', 'send', 'bob', 'look at #2', '--as', 'ann')).toMatchObject({ code: 0 })
  expect((await place.errand('board', 'inbox', '--as', 'bob', '--keep')).out).toMatch(/^\S+Z ann\n {2}look at #2\n$/)
  expect(json(await place.errand('board', 'inbox', '--as', 'bob', '--json'))).toMatchObject({
    from: 'ann',
    body: 'look at #2',
  })
  expect((await place.errand('board', 'inbox', '--as', 'bob')).out).toBe('No messages.\n')
  expect((await place.errand('board', 'inbox')).code).toBe(2)
})

it('errand board respond answers a request once, with the command that the inbox shows', async () => {
  await using place = await chain()
  await using engine = await (await import('../../../src/index.ts')).createEngine({
    ledger: `${place.folder}/ledger.db`,
    work: false,
  })
  await engine.bus.call('board:request', { to: 'bob', topic: 'plan_approval', body: 'Tests first', as: 'ann' })
  const { out } = await place.errand('board', 'inbox', '--as', 'bob')
  expect(out).toContain('ann request plan_approval\n  Tests first\n')
  const command = (out.trim().split('\n').at(-1) ?? '').trim().split(' ').slice(1)
  expect(await place.errand(...command, 'go on', '--as', 'bob')).toMatchObject({ code: 0, out: 'Approved.\n' })
  expect((await place.errand(...command, '--as', 'bob')).code).not.toBe(0)
  expect((await place.errand('board', 'inbox', '--as', 'ann')).out).toContain('bob response plan_approval approved')
})

const seven = { id: 1, subject: 'Parse', description: '', status: 'completed', blockedBy: [], blocks: [2], owner: '' }
const folder = (place: Workplace, name: string) => join(place.folder, name)
const read = (place: Workplace, name: string) => JSON.parse(readFileSync(folder(place, name), 'utf8'))

it('errand board import and export keep a folder of task files as it was', async () => {
  await using place = new Workplace()
  mkdirSync(folder(place, 'old'))
  const second = { ...seven, id: 2, subject: 'Emit', status: 'pending', blocks: [], own: { kept: true } }
  place.write('old/task_1.json', JSON.stringify(seven, null, 2))
  place.write('old/task_2.json', JSON.stringify(second, null, 2))
  place.write('old/task_3.json', '{ "id": ')
  const imported = await place.errand('board', 'import', 'old')
  expect(imported).toMatchObject({ code: 0, out: 'imported 2: task_1.json, task_2.json\n' })
  expect(imported.err).toMatch(/^skipped task_3\.json: /m)
  expect(await place.errand('board')).toMatchObject({ out: '[x] #1: Parse\n[ ] #2: Emit\n' })
  expect(await place.errand('board', 'export', 'new')).toMatchObject({ code: 0, err: '' })
  expect(read(place, 'new/task_1.json')).toEqual(seven)
  expect(read(place, 'new/task_2.json')).toEqual(second)
  mkdirSync(folder(place, 'other'))
  place.write('other/task_1.json', JSON.stringify({ ...seven, subject: 'Other' }))
  expect(await place.errand('board', 'import', 'other')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^refused task_1\.json: /),
  })
})

it('errand board init and sync synchronize a folder, and a refused edit exits with 1', async () => {
  await using place = await chain()
  const made = await place.errand('board', 'init')
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining('written 3: task_1.json') })
  const file = read(place, '.tasks/task_1.json')
  expect(file).toMatchObject({ id: 1, subject: 'Set up the project', status: 'pending' })
  place.write('.tasks/task_1.json', JSON.stringify({ ...file, status: 'completed' }, null, 2))
  expect(await place.errand('board', 'sync')).toMatchObject({ code: 0, out: expect.stringMatching(/^imported 1: /) })
  expect((await place.errand('board')).out).toContain('[x] #1:')
  const third = read(place, '.tasks/task_3.json')
  place.write('.tasks/task_3.json', JSON.stringify({ ...third, status: 'completed' }, null, 2))
  const refused = await place.errand('board', 'sync', '.tasks', '--json')
  expect(refused.code).toBe(1)
  expect(json(refused)).toMatchObject({
    refused: [{ file: 'task_3.json', why: expect.stringContaining('blocked by [2]'), copy: expect.any(String) }],
  })
  expect(read(place, '.tasks/task_3.json').status).toBe('pending')
})

it('errand board sync --watch follows the board until Ctrl-C, and exits with 130', async () => {
  await using place = await chain()
  const watching = place.start('board', 'sync', '--watch')
  await watching.printed(/Synchronizing .*\.tasks; Ctrl-C ends it\./)
  await place.errand('board', 'add', 'Publish')
  await watching.printed(/written 1: task_4\.json/)
  expect(read(place, '.tasks/task_4.json').subject).toBe('Publish')
  const file = read(place, '.tasks/task_4.json')
  place.write('.tasks/task_4.json', JSON.stringify({ ...file, priority: 7 }, null, 2))
  await watching.printed(/imported 1: task_4\.json/)
  expect((await place.errand('board', '--ready')).out).toMatch(/^\[ \] #4: Publish\n/)
  watching.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 130 })
})

it('errand board does not create a folder of task files for reading', async () => {
  await using place = await chain()
  expect(await place.errand('board', 'import', 'none')).toMatchObject({ code: 2, out: '' })
  expect(existsSync(folder(place, 'none'))).toBe(false)
})
