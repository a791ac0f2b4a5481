// What the executor of an agent calls besides what every executor does.
import type { AgentRun } from '../agent-run.ts'
import type { Run } from '../executor.ts'
import type { RunParts } from './run-parts.ts'

export function facilitiesOf({ core, calls, conversation, messages, waits }: RunParts, toolRun: Run): AgentRun {
  const { host, task } = core
  return {
    bus: host.bus,
    toolRun,
    clock: host.clock,
    caller: core.caller,
    policy: task.policy,
    modelId: task.policy.model ?? host.modelIdOf(task.executor as string),
    defaults: host.agentDefaults,
    onInterrupt: core.onInterrupt,
    chance: () => host.chance(),
    nextId: (prefix) => host.nextId(prefix),
    live: (token, messageId) => messages.live(token, messageId),
    report: (error, doing) => host.report(error, { ...core.ref, doing }),
    place: () => core.request(() => host.placeOf(task)),
    conversation: () => core.request(() => conversation.read()),
    append: (message) => core.request(() => core.busy(() => conversation.append(message))),
    modelFailed: (failure) => core.request(() => core.busy(() => conversation.modelFailed(failure))),
    waitFor: (taskIds, options) => core.request(() => waits.forAgent(taskIds, options, conversation.heardThrough)),
    perform: (name, params, fn, way) => core.request(() => calls.perform(name, params, fn, way)),
  }
}
