// `errand inspect` and `errand graph --machine` on the command line.
import { expect, it } from 'vitest'
import { createActor, createMachine } from 'xstate'
import { machines } from '../../../src/engine/machine-charts.ts'
import { taskActions, taskMachine } from '../../../src/machines/task-machine.ts'
import { Workplace } from '../cli/workplace.ts'
import { isActor, receive } from './receiver.ts'

/** The output of `errand inspect --json`. */
interface InspectOutput {
  url?: string
  inspector: string
  token: string
}

it('errand inspect shows the tasks of other processes to inspectors and on a page, changes nothing, and ends on SIGINT', async () => {
  await using place = new Workplace()
  await place.errand('add', 'Parse')
  const inspecting = place.start('inspect', '--json')
  await inspecting.printed(/\n/)
  const { url, inspector, token } = JSON.parse(inspecting.text()) as Required<InspectOutput>
  const receiver = receive(inspector)
  const task = await place.task('Parse')
  const seen = await receiver.until(isActor(task.id))
  expect(seen.snapshot).toMatchObject({ value: 'submitted', context: { name: 'Parse' } })
  await place.errand('claim', task.id, '--as', 'ann')
  await receiver.until(({ sessionId, snapshot }) => sessionId === seen.sessionId && snapshot?.value === 'working')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const listed = await fetch(`${url}/tasks`, { headers })
  expect(await listed.json()).toMatchObject({ tasks: [{ id: task.id, status: 'working' }] })
  const refused = await fetch(`${url}/tasks`, { method: 'POST', headers, body: '{"name":"x"}' })
  expect(refused.status).toBe(403)
  expect((await fetch(`${url}/tasks`)).status).toBe(401)
  inspecting.kill('SIGINT')
  expect(await inspecting.ended).toMatchObject({ code: 130, err: '' })
})

it('errand inspect prints its address and token in lines, opens no page with --no-page, and redacts the keys of --redact', async () => {
  await using place = new Workplace()
  await place.errand('add', 'iban=DE02 to pay')
  const inspecting = place.start('inspect', '--no-page', '--redact', 'iban')
  await inspecting.printed(/token: \S+\n/)
  const [, url] = /^inspector: (ws:\/\/127\.0\.0\.1:\d+\/\?token=\w+)\n/.exec(inspecting.text()) ?? []
  const receiver = receive(url as string)
  const { snapshot } = await receiver.until(({ name }) => name?.startsWith('task-') === true)
  expect(snapshot?.context).toMatchObject({ name: 'iban=[redacted] to pay' })
  inspecting.kill('SIGTERM')
  expect((await inspecting.ended).code).toBe(130)
})

it.each([
  ['a port that is not a number', ['inspect', '--inspector-port', 'x'], 2, /--inspector-port takes a whole number/],
  ['a missing ledger', ['inspect', '--ledger', 'none.db'], 2, /There is no ledger/],
])('errand inspect refuses %s', async (_what, argv, code, message) => {
  await using place = new Workplace()
  if (!argv.includes('--ledger')) await place.errand('add', 'x')
  const ended = await place.errand(...argv)
  expect(ended.err).toMatch(message)
  expect(ended.code).toBe(code)
})

it.each(Object.values(machines))(
  'errand graph --machine prints $id as Mermaid and as the configuration of an XState machine',
  async (machine) => {
    await using place = new Workplace()
    const { out, code } = await place.errand('graph', '--machine', machine.id)
    const [mermaid, json] = out.split('\n\n') as [string, string]
    expect(code).toBe(0)
    expect(mermaid).toBe(machine.mermaid)
    expect(JSON.parse(json)).toEqual(machine.config)
    expect(createMachine(JSON.parse(json)).id).toBe(machine.id)
  },
)

it('X-003 the JSON of errand graph --machine task is a machine for XState, which acts with the implementations that are provided', async () => {
  await using place = new Workplace()
  const { out } = await place.errand('graph', '--machine', 'task', '--format', 'json')
  const { guards, actions } = taskMachine.implementations
  const done: string[] = []
  const recording = Object.keys(taskActions).map((name) => [name, () => void done.push(name)] as const)
  const machine = createMachine(JSON.parse(out)).provide({
    guards: guards as never,
    actions: { ...actions, ...Object.fromEntries(recording) } as never,
  })
  const actor = createActor(machine).start()
  actor.send({ type: 'start', run: { number: 1, dueAt: null } })
  expect(actor.getSnapshot().value).toBe('working')
  expect(done.splice(0)).toEqual(['startRun', 'record', 'startGroupsAbove', 'judge'])
  actor.send({ type: 'fail', retry: {} })
  expect(actor.getSnapshot().value).toBe('submitted')
  const failing = ['endRun', 'closeEntries', 'clearTimer', 'clearStuck', 'record']
  expect(done).toEqual([...failing, 'reopenWaits', 'record', 'reopenFamily', 'judge'])
})

it('errand graph --machine prints either format alone, or all as one JSON value', async () => {
  await using place = new Workplace()
  const { id, mermaid, config } = machines.stint
  expect((await place.errand('graph', '--machine', 'stint', '--format', 'mermaid')).out).toBe(`${mermaid}\n`)
  expect(JSON.parse((await place.errand('graph', '--machine', 'stint', '--format', 'json')).out)).toEqual(config)
  expect(JSON.parse((await place.errand('graph', '--machine', 'stint', '--json')).out)).toEqual({
    id,
    mermaid,
    config,
  })
})

it('errand graph --machine refuses an unknown machine or format, a format without a machine, and a task beside a machine', async () => {
  await using place = new Workplace()
  expect(await place.errand('graph', '--machine', 'stints')).toMatchObject({
    code: 2,
    err: expect.stringContaining('"stint"'),
  })
  expect((await place.errand('graph', '--machine', 'task', '--format', 'dot')).code).toBe(2)
  expect((await place.errand('graph', '--format', 'json')).err).toContain('--format needs --machine')
  const { code, err } = await place.errand('graph', '--machine', 'task', '#1')
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('leave out "#1" to draw it') })
})
