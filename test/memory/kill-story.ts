// The consolidation during which the process is killed: agents of two tasks with equal, contradicting and other facts, each level once.
import type { Engine } from '../../src/engine/engine-api.ts'

const sessions = ['s1', 's2', 's3'] as const
const times = (seconds: number) => `requests to the billing service time out after ${seconds} seconds`
const auth = 'the auth middleware keeps its tokens in a cookie that scripts can read'

/** Records all observations and facts. Resolves to the ids of the tasks. */
export async function fill({ bus }: Pick<Engine, 'bus'>): Promise<string[]> {
  const taskIds: string[] = []
  for (const name of ['One', 'Two']) {
    const { taskId } = await bus.call('task:create', { name })
    taskIds.push(taskId)
    for (const agentId of ['ada', 'bob']) await bus.call('agent:join', { taskId, agentId })
    for (const sessionId of sessions) {
      for (const agentId of ['ada', 'bob']) {
        await bus.call('mem:observe', { sessionId, taskId, agentId, type: 'insight', content: auth })
      }
    }
    await bus.call('mem:observe', { sessionId: 's1', taskId, agentId: 'ada', type: 'decision', content: times(30) })
    await bus.call('mem:observe', { sessionId: 's1', taskId, agentId: 'bob', type: 'decision', content: times(60) })
    await bus.call('mem:observe', { sessionId: 's1', taskId, type: 'discovery', content: `only ${name} knows of this` })
    await bus.call('mem:remember', { taskId, agentId: 'ada', text: `${auth}!`, confidence: 0.6 })
    await bus.call('mem:remember', { taskId, agentId: 'ada', text: 'a remark in passing', confidence: 0.6 })
  }
  return taskIds
}

/** Every level, one call at a time. Repeating a call changes nothing. */
export function levels(
  { bus }: Pick<Engine, 'bus'>,
  taskIds: readonly string[],
): Array<[string, () => Promise<unknown>]> {
  const calls: Array<[string, () => Promise<unknown>]> = sessions.map((sessionId) => [
    `session ${sessionId}`,
    () => bus.call('mem:consolidate', { level: 'session', sessionId }),
  ])
  for (const taskId of taskIds) {
    for (const agentId of ['ada', 'bob']) {
      calls.push([`agent ${agentId}`, () => bus.call('mem:consolidate', { level: 'agent', agentId, taskId })])
      calls.push([
        `merge ${agentId}`,
        async () => bus.call('mem:merge', { branch: await branchOf(bus, taskId, agentId) }),
      ])
    }
    calls.push(['task', () => bus.call('mem:consolidate', { level: 'task', taskId })])
  }
  const first = taskIds[0] as string
  calls.push(['merge', async () => bus.call('mem:merge', { branch: await branchOf(bus, first), only: 'durable' })])
  calls.push(['project', () => bus.call('mem:consolidate', { level: 'project' })])
  return calls
}

async function branchOf(bus: Engine['bus'], taskId: string, agentId?: string): Promise<string> {
  const { branches } = await bus.call('mem:branches', { taskId })
  return branches.find((branch) => branch.agentId === agentId)?.name as string
}
