// A task whose run reports the address of its webhook as its progress, behind a handler that requires credentials.
import type { Access } from '../../../src/bus/caller.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { reached } from '../../engine/world.ts'
import { openWorld, serve } from './world.ts'

export async function createTaskEngine(
  work: (task: ExecutorTask, run: Run) => unknown,
  options: { publicUrl?: string } = {},
) {
  const world = await openWorld({}, { executors: { work }, ...options })
  const engine = world.engine as Engine
  const { id } = (await engine.create({ executor: 'work' })) as { id: string }
  const task = await reached(engine, id, ({ status }) => status === 'waiting' || status === 'input_required')
  const anonymous = { authorization: '' }
  return {
    engine,
    task,
    url: task.progress?.note as string,
    /** Without credentials. */
    ask: (method: string, path: string) => world.ask(method, path, undefined, anonymous),
    post: (path: string, body?: unknown, headers: Record<string, string> = {}) =>
      world.ask('POST', path, body, { ...anonymous, ...headers }),
    /** With credentials of these scopes. */
    as: (scopes: readonly Access[]) => serve(world.engine, { authenticate: () => ({ scopes }) }).ask,
  }
}
