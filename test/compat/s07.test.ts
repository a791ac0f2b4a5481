// s07's task system under its own names: what its document specifies, on an engine and on a folder of files.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTaskTools, openTaskManager, TaskManager } from 'errand/s07'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openEngine, refusalOf, waysTo } from '../engine/world.ts'

type Json = Record<string, unknown>

const sevenKeys = ['id', 'subject', 'description', 'status', 'blockedBy', 'blocks', 'owner']

async function setup(options: ConstructorParameters<typeof TaskManager>[1] = {}) {
  const engine = (await openEngine()) as unknown as Engine
  return { engine, tasks: new TaskManager(engine, options) }
}

const read = async (text: Promise<string>): Promise<Json> => JSON.parse(await text) as Json

function folder(): string {
  const place = mkdtempSync(join(tmpdir(), 'errand-s07-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  return join(place, '.tasks')
}

async function onFolder(dir: string, options: Parameters<typeof openTaskManager>[0] = {}): Promise<TaskManager> {
  const reported: unknown[] = []
  const tasks = await openTaskManager({ dir, onError: (error) => reported.push(error), ...options })
  onTestFinished(async () => {
    await tasks.close()
    expect(reported).toEqual([])
  })
  return tasks
}

const fileOf = (dir: string, id: number) => JSON.parse(readFileSync(join(dir, `task_${id}.json`), 'utf8')) as Json

describe('TaskManager', () => {
  it('S4-014 S4-016 TaskManager creates and returns tasks as JSON texts', async () => {
    const { tasks } = await setup()
    const text = await tasks.create('Setup project')
    const task = JSON.parse(text) as Json
    expect(text).toBe(JSON.stringify(task, null, 2))
    expect(Object.keys(task).slice(0, 7)).toEqual(sevenKeys)
    expect(task).toMatchObject({
      id: 1,
      subject: 'Setup project',
      description: '',
      status: 'pending',
      blockedBy: [],
      blocks: [],
      owner: '',
    })
    expect(await read(tasks.create('Write code', 'all of it'))).toMatchObject({ id: 2, description: 'all of it' })
    expect(await tasks.get(1)).toBe(text)
    expect(await tasks.get('1')).toBe(text)
    await expect(tasks.get(9)).rejects.toThrow(/^Task 9 not found$/)
    await expect(tasks.create('  ')).rejects.toThrow(/subject/)
  })

  it('S4-017 S4-035 TaskManager sets statuses without an owner and refuses unknown ones', async () => {
    const { engine, tasks } = await setup()
    const { taskId } = await read(tasks.create('A'))
    expect(await read(tasks.update(1, 'in_progress'))).toMatchObject({ status: 'in_progress', owner: '' })
    expect(await read(tasks.update(1, 'completed'))).toMatchObject({ status: 'completed', owner: '' })
    await expect(tasks.update(1, 'done' as 'completed')).rejects.toThrow(/^Invalid status: done$/)
    await expect(tasks.update(9, 'completed')).rejects.toThrow(/^Task 9 not found$/)
    await expect(tasks.update(1, 'pending')).rejects.toThrow(/cannot become pending/)
    await tasks.create('B')
    await tasks.update(2, 'completed')
    const types: string[] = []
    for await (const { type, taskId: id } of engine.events({ follow: false })) if (id !== taskId) types.push(type)
    expect(types).toEqual(['task.created', 'task.started', 'task.completed'])
  })

  it('S4-050 TaskManager with a name owns what it starts, and other clients cannot complete it', async () => {
    const { engine, tasks } = await setup({ as: 'alice' })
    await tasks.create('A')
    expect(await read(tasks.update(1, 'in_progress'))).toMatchObject({ owner: 'alice' })
    await expect(new TaskManager(engine).update(1, 'completed')).rejects.toThrow(/worked on by alice/)
    await expect(new TaskManager(engine, { as: 'bob' }).update(1, 'completed')).rejects.toThrow(/not by bob/)
    expect(await read(new TaskManager(engine, { as: 'alice' }).update(1, 'completed'))).toMatchObject({
      owner: 'alice',
    })
  })

  it('S4-018 S4-020 S4-021 S4-028 TaskManager adds edges from both ends, and completing removes the number from blockedBy', async () => {
    const { tasks } = await setup()
    for (const subject of ['A', 'B', 'C']) await tasks.create(subject)
    expect(await read(tasks.update(2, undefined, [1]))).toMatchObject({ blockedBy: [1] })
    expect(await read(tasks.update(2, null, null, [3]))).toMatchObject({ blocks: [3] })
    expect(await read(tasks.get(1))).toMatchObject({ blocks: [2] })
    expect(await read(tasks.get(3))).toMatchObject({ blockedBy: [2] })
    expect(await tasks.list_all()).toBe('[ ] #1: A\n[ ] #2: B (blocked by: [1])\n[ ] #3: C (blocked by: [2])')
    expect(await read(tasks.update(1, 'completed'))).toMatchObject({ unblocked: [2] })
    expect(await tasks.listAll()).toBe('[x] #1: A\n[ ] #2: B\n[ ] #3: C (blocked by: [2])')
    expect(await read(tasks.update(3, undefined, undefined, undefined, [2]))).toMatchObject({ blockedBy: [] })
    await expect(tasks.update(1, undefined, [1])).rejects.toThrow(/Task 1/)
    await expect(tasks.update(3, undefined, [2, 99])).rejects.toThrow(/^Task 99 not found$/)
  })

  it('S4-027 S4-019 completing a task and adding dependents in one update blocks none of them', async () => {
    const { tasks } = await setup()
    for (const subject of ['A', 'B']) await tasks.create(subject)
    expect(await read(tasks.update(1, 'completed', undefined, [2]))).toMatchObject({ blocks: [2], unblocked: [2] })
    expect(await read(tasks.get(2))).toMatchObject({ blockedBy: [] })
  })

  it('S4-032 delete unblocks the dependents, and the number is not assigned again', async () => {
    const { tasks } = await setup()
    for (const subject of ['A', 'B']) await tasks.create(subject)
    await tasks.update(2, undefined, [1])
    expect(await tasks.delete(1)).toBe('Task 1 deleted')
    await expect(tasks.delete(1)).rejects.toThrow(/^Task 1 not found$/)
    expect(await tasks.list_all()).toBe('[ ] #2: B')
    expect(await read(tasks.create('C'))).toMatchObject({ id: 3 })
  })

  it('S4-033 list_all of an empty board is `No tasks.`', async () => {
    expect(await (await setup()).tasks.list_all()).toBe('No tasks.')
  })

  it('X-019 each state is shown as a status of the board, and setting that status again changes nothing', async () => {
    const { engine, tasks } = await setup()
    const words = {
      submitted: 'pending',
      working: 'in_progress',
      paused: 'in_progress',
      input_required: 'in_progress',
      waiting: 'in_progress',
      completed: 'completed',
      failed: 'failed',
      canceled: 'deleted',
    } as const
    for (const [state, word] of Object.entries(words) as Array<[keyof typeof words, (typeof words)['paused']]>) {
      const { id } = await engine.create({ name: state })
      for (const status of waysTo[state]) await engine.update(id, { status })
      const before = await engine.get(id)
      const shown = await read(tasks.get(id))
      expect(shown).toMatchObject({ status: word, canonicalStatus: state, taskId: id })
      expect(await read(tasks.update(id, word))).toEqual(shown)
      expect(await engine.get(id)).toEqual(before)
    }
  })

  it('TaskManager refuses invalid arguments', async () => {
    const { engine } = await setup()
    await refusalOf(() => new TaskManager(engine, { dir: 'x' } as never), 'UNKNOWN_OPTION')
    await refusalOf(() => new TaskManager(engine, { ledger: 'x' }), 'INVALID_INPUT')
    await refusalOf(() => new TaskManager(7 as never), 'INVALID_INPUT')
    await refusalOf(() => new TaskManager(''), 'INVALID_INPUT')
    await refusalOf(() => createTaskTools({} as never), 'INVALID_INPUT')
    await refusalOf(() => createTaskTools(new TaskManager(engine), { as: 'x' }), 'INVALID_INPUT')
    await refusalOf(new TaskManager(engine, { board: 'nowhere' }).list_all(), 'NOT_FOUND')
    const closed = new TaskManager(engine)
    await closed.close()
    await refusalOf(closed.list_all(), 'ENGINE_CLOSED')
    expect(await engine.list()).toMatchObject({ total: 0 })
  })
})

describe('The dispatch map', () => {
  it('S4-036 S4-039 createTaskTools has the four tools of a manager, which answer errors as text', async () => {
    const { engine, tasks } = await setup()
    const { handlers, tools, dispatch } = createTaskTools(tasks)
    expect(Object.keys(handlers)).toEqual(['task_create', 'task_update', 'task_list', 'task_get'])
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(handlers))
    expect(JSON.parse(await handlers.task_create({ subject: 'A' }))).toMatchObject({ id: 1 })
    await dispatch('task_create', { subject: 'B', addBlockedBy: '[1]' })
    expect(await dispatch('task_update', { task_id: 2, status: 'completed' })).toBe(
      'Error: Task 2 is blocked by [1]: complete it first',
    )
    expect(await dispatch('task_update', { task_id: 1, status: 'finished' })).toBe('Error: Invalid status: finished')
    expect(await dispatch('task_get', { task_id: 9 })).toBe('Error: Task 9 not found')
    expect(await dispatch('bash', { command: 'ls' })).toBe('Unknown tool: bash')
    expect(JSON.parse(await dispatch('task_update', { task_id: 1, status: 'completed' }))).toMatchObject({
      owner: '',
      unblocked: [2],
    })
    expect(await createTaskTools(engine, { as: 'alice' }).dispatch('task_list')).toBe('[x] #1: A\n[ ] #2: B')
  })

  it('S4-043 parse, transform, emit and test are done in order', async () => {
    const { engine } = await setup()
    const { dispatch } = createTaskTools(engine, { as: 'alice' })
    const names = ['parse', 'transform', 'emit', 'test']
    for (const [n, subject] of names.entries())
      await dispatch('task_create', { subject, ...(n === 0 ? {} : { addBlockedBy: [n] }) })
    for (const n of [1, 2, 3, 4]) {
      const list = (await dispatch('task_list')).split('\n')
      expect(list.filter((line) => line.startsWith('[ ]') && !line.includes('blocked'))).toEqual([
        `[ ] #${n}: ${names[n - 1]}`,
      ])
      await dispatch('task_update', { task_id: n, status: 'in_progress' })
      await dispatch('task_update', { task_id: n, status: 'completed' })
    }
    expect(await dispatch('task_list')).toBe(names.map((name, n) => `[x] #${n + 1}: ${name} @alice`).join('\n'))
  })
})

describe('A manager on a folder', () => {
  it('S4-001 S4-002 S4-003 TaskManager creates its folder, and each task has a file when the call returns', async () => {
    const dir = folder()
    const tasks = await onFolder(dir)
    const made = await read(tasks.create('Setup project'))
    await tasks.create('Write code')
    await tasks.update(2, undefined, [1])
    expect(readdirSync(dir).filter((name) => /^task_\d+\.json$/.test(name))).toEqual(['task_1.json', 'task_2.json'])
    expect(fileOf(dir, 2)).toMatchObject({ id: 2, subject: 'Write code', status: 'pending', blockedBy: [1], owner: '' })
    expect(Object.keys(fileOf(dir, 1)).slice(0, 7)).toEqual(sevenKeys)
    await tasks.update(1, 'completed')
    expect(fileOf(dir, 1)).toMatchObject({ id: made['id'], status: 'completed', blocks: [2] })
    expect(fileOf(dir, 2)).toMatchObject({ blockedBy: [] })
  })

  it('S4-008 S4-005 another manager finds the tasks of a folder later and continues the numbers', async () => {
    const dir = folder()
    const first = await onFolder(dir)
    await first.create('A')
    await first.create('B')
    await first.update(1, 'in_progress')
    await first.close()
    const second = await onFolder(dir)
    expect(await second.list_all()).toBe('[>] #1: A\n[ ] #2: B')
    expect(await read(second.create('C'))).toMatchObject({ id: 3 })
    expect(await read(second.update(1, 'completed'))).toMatchObject({ status: 'completed' })
  })

  it('S4-007 S4-009 two managers create tasks at once without duplicate numbers or overwritten files', async () => {
    const dir = folder()
    const managers = [await onFolder(dir), await onFolder(dir)]
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => read((managers[n % 2] as TaskManager).create(`task ${n}`))),
    )
    const numbers = Array.from({ length: 20 }, (_, n) => n + 1)
    expect(made.map(({ id }) => id as number).sort((a, b) => a - b)).toEqual(numbers)
    const lists = await Promise.all(managers.map((each) => each.list_all()))
    expect(lists[0]?.split('\n')).toHaveLength(20)
    expect(lists[1]).toBe(lists[0])
    for (const each of managers) await each.close()
    // The next manager finds every file, each with the task created under its number.
    await onFolder(dir)
    expect(numbers.map((id) => fileOf(dir, id)['subject'])).toEqual(
      numbers.map((id) => made.find((task) => task['id'] === id)?.['subject']),
    )
  })

  it('S4-012 TaskManager takes over a folder of s07 and applies edits of its files', async () => {
    const dir = folder()
    mkdirSync(dir)
    const write = (task: Json) =>
      writeFileSync(join(dir, `task_${String(task['id'])}.json`), JSON.stringify(task, null, 2))
    const base = { description: '', blockedBy: [], blocks: [], owner: '' }
    write({ id: 1, subject: 'Old', status: 'completed', ...base })
    write({ id: 7, subject: 'Next', status: 'pending', ...base })
    const tasks = new TaskManager(dir, { onError: () => {} })
    onTestFinished(() => tasks.close())
    expect(await tasks.list_all()).toBe('[x] #1: Old\n[ ] #7: Next')
    expect(await read(tasks.create('New'))).toMatchObject({ id: 8 })
    writeFileSync(join(dir, 'task_7.json'), JSON.stringify({ ...fileOf(dir, 7), subject: 'Edited' }, null, 2))
    expect(await read(tasks.get(7))).toMatchObject({ subject: 'Edited' })
  })

  it('S4-010 TaskManager reports files that it does not import and shows the others', async () => {
    const dir = folder()
    mkdirSync(dir)
    writeFileSync(join(dir, 'task_1.json'), '{"id": 1, "subj')
    const errors: unknown[] = []
    const tasks = new TaskManager(dir, { onError: (error) => errors.push(String(error)) })
    onTestFinished(() => tasks.close())
    expect(await read(tasks.create('A'))).toMatchObject({ subject: 'A' })
    expect(errors.join('\n')).toContain('task_1.json was not imported')
    const reports: unknown[] = []
    const other = new TaskManager(folder(), { onReport: (report) => reports.push(...report.written) })
    onTestFinished(() => other.close())
    await other.create('B')
    expect(reports).toContain('task_1.json')
  })

  it('TaskManager uses the given ledger, and tools can be created over it', async () => {
    const dir = folder()
    const tasks = await onFolder(dir, { ledger: join(dir, '..', 'elsewhere.db'), as: 'alice' })
    const { dispatch } = createTaskTools(tasks)
    await dispatch('task_create', { subject: 'A' })
    await dispatch('task_update', { task_id: 1, status: 'in_progress' })
    expect(fileOf(dir, 1)).toMatchObject({ owner: 'alice', status: 'in_progress' })
    expect(readdirSync(join(dir, '..'))).toContain('elsewhere.db')
    expect(readdirSync(join(dir, '..'))).not.toContain('.errand')
  })

  it('V-02 TaskManager refuses a found ledger that all users can write', async () => {
    const dir = folder()
    const place = join(dir, '..', '.errand')
    mkdirSync(place)
    chmodSync(place, 0o777)
    const tasks = new TaskManager(dir)
    onTestFinished(() => tasks.close())
    const refusal = await refusalOf(tasks.create('A'), 'LEDGER_UNTRUSTED')
    expect(refusal.message).toContain('all users can write')
    expect(readdirSync(place)).toEqual([])
  })
})
