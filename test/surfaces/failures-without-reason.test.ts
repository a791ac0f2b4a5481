// A failure without a reason: every surface shows `failed`, and no reason is invented.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import { failureSuffix } from '../../src/entities/task.ts'
import { changesOf } from '../../src/surfaces/terminal/board-changes.ts'
import { linesOf } from '../../src/surfaces/terminal/round-log.ts'
import { endReason } from '../../src/surfaces/terminal/task-labels.ts'
import { treeLines } from '../../src/surfaces/terminal/task-tree.ts'
import { openManager } from '../compat/agent-os/world.ts'
import { history, openEngine, reached } from '../engine/world.ts'

type Manager = Awaited<ReturnType<typeof openManager>>

/** Fails a task in each way that requires no reason. */
const ways = {
  async 'an update'({ engine }: Manager) {
    const task = await engine.start(await engine.create({ name: 'it' }))
    return (await engine.update(task, { status: 'failed' })).id
  },
  async 'a board'({ engine }: Manager) {
    const { task } = await engine.bus.call('board:create', { subject: 'it' })
    await engine.bus.call('board:update', { id: task.id, status: 'failed' })
    return (await engine.list()).tasks[0]?.id as string
  },
  async 'a saved record'({ bus }: Manager) {
    await bus.call('ldg:task:save', { task: { id: 'task-it', completionStatus: 'failed' } })
    return 'task-it'
  },
}

it.each(Object.keys(ways) as Array<keyof typeof ways>)(
  'S0-006 C-04 a failure without a reason reads `failed` after %s',
  async (way) => {
    const manager = await openManager()
    const { engine, bus } = manager
    const id = await ways[way](manager)
    const task = await engine.get(id)
    if (task === null) throw new Error('the task does not exist')
    const { task: record } = await bus.call('ldg:task:get', { taskId: id })
    expect(record).toMatchObject({ canonicalStatus: 'failed', completionStatus: 'failed' })
    expect(await engine.settled(id)).toMatchObject({ status: 'failed', error: { message: 'failed' } })
    expect(endReason(task)).toBe('')
    expect(treeLines([{ root: task, below: [] }])).toEqual([expect.stringMatching(/^#1 \S+ failed \(\w+\)$/)])
    const event = (await history(engine, id)).findLast(({ type }) => type === 'task.failed') as TaskEvent
    expect(linesOf(event, { startedAt: null } as never)).toEqual(['failed'])
    expect(changesOf(event, undefined, '#1')?.text).toBe('#1 failed')
  },
)

it('S0-006 a failure without a reason is reported as `failed` to a parent, and in the failure of the parent', async () => {
  const model = createScriptedModel([{ tools: [{ name: 'ask_user', input: { question: 'Well?' } }] }, { text: 'ok' }])
  const engine = await openEngine({ model })
  const agent = await engine.create({ goal: 'Lead' })
  await reached(engine, agent, 'input_required')
  const notifying = await engine.start(await engine.create({ name: 'it', parentId: agent.id, notifyParent: true }))
  await engine.update(notifying, { status: 'failed' })
  expect((await engine.messages(agent)).map(({ content }) => content)).toContain(
    `[background] ${notifying.id} "it" failed`,
  )
  const strict = await engine.create({ name: 'strict', onChildFailure: 'fail' })
  await engine.start(strict)
  const child = await engine.start(await engine.create({ name: 'part', parentId: strict.id }))
  await engine.update(child, { status: 'failed' })
  expect((await engine.get(strict))?.error?.message).toBe(`Child #${child.seq} (part) failed`)
})

it('a failure keeps every reason that was given', () => {
  expect(['no disk', 'failed to open', 'Failed'].map(failureSuffix)).toEqual([
    ': no disk',
    ': failed to open',
    ': Failed',
  ])
  expect(['failed', '', null, undefined].map(failureSuffix)).toEqual(['', '', '', ''])
})
