// The story that is interrupted at every write: two agents, one of them in two sessions, made equal and different observations, one of
// which contradicts main.
import type { Engine } from '../../../src/engine/engine-api.ts'

export const storyKey = 'the story'

type Bus = Pick<Engine['bus'], 'call'>

/** Everything before completing an agent; repeated calls have no further effect. */
export async function playStory(engine: Engine): Promise<string> {
  const { bus } = engine
  const { id: taskId } = await engine.create({
    name: 'Fix Auth',
    key: storyKey,
    objectives: ['Find it', 'Fix it'],
  })
  await bus.call('mem:remember', {
    branch: 'main',
    text: 'We decided that tokens live for 60 minutes',
    category: 'decision',
    confidence: 0.9,
  })
  const { branch } = await bus.call('agent:join', { taskId, agentId: 'ada', objectives: [1] })
  await bus.call('agent:join', { taskId, agentId: 'bob', objectives: [2] })
  await bus.call('mem:remember', { branch, text: 'the refresh token is dropped by the proxy', confidence: 0.7 })
  for (const [agentId, sessionId, type, content] of [
    ['ada', 's1', 'tool_use', 'read proxy.ts'],
    ['ada', 's1', 'insight', 'Fixed the bug in the refresh of tokens'],
    ['ada', 's1', 'discovery', 'The refresh token is dropped by the proxy'],
    ['ada', 's2', 'insight', 'Fixed the bug in the refresh of tokens'],
    ['bob', 's3', 'decision', 'We decided that tokens live for 15 minutes'],
    ['bob', 's4', 'decision', 'We decided that tokens live for 15 minutes'],
    ['bob', 's4', 'insight', 'The build is slow on Mondays'],
  ] as const) {
    await bus.call('mem:observe', { taskId, agentId, sessionId, type, content })
  }
  return taskId
}

export function completeAda(bus: Bus, taskId: string): Promise<unknown> {
  return bus.call('agent:complete', { taskId, agentId: 'ada', summary: 'Fixed it' })
}

/** Completes bob first. */
export function completeAll(bus: Bus, taskId: string): Promise<unknown> {
  return bus.call('task:complete', { taskId, summary: 'Done', result: 'ok', agents: 'complete', archive: true })
}
