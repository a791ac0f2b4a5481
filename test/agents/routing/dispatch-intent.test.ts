// The engine executes an intent and reports the effect or the refusal.
import { describe, expect, it } from 'vitest'
import { canDispatch, dispatchIntent } from '../../../src/agents/routing/handle.ts'
import type { HandlerEngine } from '../../../src/agents/routing/handler-engine.ts'
import type { Intent } from '../../../src/agents/routing/intent.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import type { TaskStatus } from '../../../src/entities/task.ts'
import { openEngine, refusalOf, waysTo } from '../../engine/world.ts'
import { handling } from './world.ts'

/** The methods as an object of its own, so that one of them can be replaced. */
function methodsOf({ create, pause, resume, update, list, get }: HandlerEngine) {
  return { create, pause, resume, update, list, get }
}

const intentTo = (action: Intent['action'], taskId: string | null = null, details: Intent['details'] = {}): Intent => ({
  action,
  taskId,
  confidence: 0.9,
  details,
})

/** An engine with a task that is worked on by hand, in this state. */
async function withTask(status: TaskStatus = 'submitted') {
  const engine = await openEngine()
  const { id } = await engine.create({ name: 'Q1 report' })
  for (const next of waysTo[status]) await engine.update(id, { status: next })
  return { engine: handling(engine).engine, id }
}

describe('dispatchIntent', () => {
  it('S3-106 create_task creates a task with the details of the intent', async () => {
    const { engine } = await withTask()
    const details = { name: 'Q2 report', description: 'Sales only', priority: 5, due: 'tomorrow' }
    const { did, task } = await dispatchIntent(engine, intentTo('create_task', null, details))
    expect(did).toBe('created')
    expect(await engine.get(task?.id as string)).toMatchObject({
      name: 'Q2 report',
      goal: 'Sales only',
      description: 'Sales only',
      priority: 5,
      status: 'submitted',
    })
  })

  it('S3-106 create_task takes the message of the user as the goal, and the given parent', async () => {
    const { engine, id } = await withTask()
    const details = { name: 'Q2 report', goal: 'A report', priority: 'high' }
    const { task } = await dispatchIntent(engine, intentTo('create_task', null, details), {
      message: 'Report on Q2, urgently',
      parentId: id,
    })
    expect(task).toMatchObject({ goal: 'Report on Q2, urgently', name: 'Q2 report', priority: 0, parentId: id })
  })

  it('S3-106 pause_task, resume_task and cancel_task change the status of the task', async () => {
    const { engine, id } = await withTask('working')
    expect(await dispatchIntent(engine, intentTo('pause_task', id))).toMatchObject({
      did: 'paused',
      task: { id, status: 'paused' },
    })
    expect(await dispatchIntent(engine, intentTo('resume_task', id))).toMatchObject({
      did: 'resumed',
      task: { id, status: 'working' },
    })
    expect(await dispatchIntent(engine, intentTo('cancel_task', id, { reason: 'stale' }))).toMatchObject({
      did: 'canceled',
      task: { id, status: 'canceled', statusReason: 'stale' },
    })
    expect((await engine.get(id))?.status).toBe('canceled')
  })

  it('S3-106 list_tasks lists the open tasks, those in one state, or all', async () => {
    const { engine, id } = await withTask('completed')
    const open = await engine.create({ goal: 'Q2 report' })
    const child = await engine.create({ goal: 'Sales', parentId: open.id })
    const listed = async (details: object, scope: object = {}) => {
      const effect = await dispatchIntent(engine, intentTo('list_tasks', null, { ...details }), scope)
      expect(effect).toMatchObject({ did: 'listed', task: null })
      return effect.tasks?.map((task) => task.id)
    }
    expect(await listed({})).toEqual([open.id, child.id])
    expect(await listed({ status: 'running' })).toEqual([open.id, child.id])
    expect(await listed({ status: 'completed' })).toEqual([id])
    expect(await listed({ status: 'all' })).toEqual([id, open.id, child.id])
    expect(await listed({}, { rootsOnly: true })).toEqual([open.id])
    expect(await listed({}, { parentId: open.id })).toEqual([child.id])
  })

  it('S3-106 get_task_status returns the task', async () => {
    const { engine, id } = await withTask('completed')
    expect(await dispatchIntent(engine, intentTo('get_task_status', id))).toMatchObject({
      did: 'status',
      task: { id, status: 'completed' },
    })
  })

  it('S3-106 update_task applies valid changes and ignores invalid ones', async () => {
    const { engine, id } = await withTask()
    const details = { name: 'Q1 report, revised', priority: 7, description: 7, status: 'completed' }
    expect(await dispatchIntent(engine, intentTo('update_task', id, details))).toMatchObject({
      did: 'updated',
      task: { id, name: 'Q1 report, revised', priority: 7, description: '', status: 'submitted' },
    })
  })

  it('S3-106 a refusal of the engine is reported with the unchanged task', async () => {
    const { engine, id } = await withTask('completed')
    for (const action of ['pause_task', 'resume_task', 'cancel_task'] as const) {
      const effect = await dispatchIntent(engine, intentTo(action, id))
      expect(effect).toMatchObject({
        did: 'nothing',
        task: { id, status: 'completed' },
        error: { code: 'INVALID_TRANSITION' },
      })
      expect(effect.reason).toBe(effect.error?.message)
    }
    const child = intentTo('create_task', null, { goal: 'Sales' })
    expect(await dispatchIntent(engine, child, { parentId: id })).toMatchObject({
      did: 'nothing',
      task: null,
      error: { code: 'PARENT_CLOSED' },
    })
  })

  it.each(['pause_task', 'resume_task', 'cancel_task', 'get_task_status', 'update_task'] as const)(
    'S3-106 %s does nothing without a task or for an unknown one',
    async (action) => {
      const { engine } = await withTask()
      const unnamed = await dispatchIntent(engine, intentTo(action, null, { name: 'x' }))
      expect(unnamed).toMatchObject({ did: 'nothing', task: null })
      expect(unnamed.reason).toContain(action)
      expect(await dispatchIntent(engine, intentTo(action, 'task-zzz', { name: 'x' }))).toMatchObject({
        did: 'nothing',
        task: null,
        error: { code: 'NOT_FOUND' },
      })
    },
  )

  it('S3-106 an unknown intent, or one without its values, does nothing and gives a reason', async () => {
    const { engine, id } = await withTask()
    for (const intent of [intentTo('unknown', id), intentTo('create_task'), intentTo('update_task', id)]) {
      const effect = await dispatchIntent(engine, intent)
      expect(effect.did).toBe('nothing')
      expect(effect.reason).toBeTypeOf('string')
    }
    expect((await engine.list({})).tasks).toHaveLength(1)
    expect(canDispatch(intentTo('unknown', id))).toBe(false)
    expect(canDispatch(intentTo('update_task', id, { priority: 'high' }))).toBe(false)
    expect(canDispatch(intentTo('update_task', id, { priority: 1 }))).toBe(true)
    expect(canDispatch(intentTo('pause_task', null))).toBe(true)
  })

  it('dispatchIntent throws failures of the engine itself', async () => {
    const engine = await openEngine()
    const { id } = await engine.create({ name: 'Q1 report' })
    await engine.close()
    await refusalOf(dispatchIntent(handling(engine).engine, intentTo('cancel_task', id)), 'ENGINE_CLOSED')
    const { engine: open, id: other } = await withTask()
    const unsure = new ErrandError('OUTCOME_UNKNOWN', 'The commit failed: it may have happened.', {})
    for (const trouble of [unsure, new TypeError('a fault of ours')]) {
      const faulty = { ...methodsOf(open), cancel: () => Promise.reject(trouble) }
      await expect(dispatchIntent(faulty, intentTo('cancel_task', other))).rejects.toBe(trouble)
    }
  })
})
