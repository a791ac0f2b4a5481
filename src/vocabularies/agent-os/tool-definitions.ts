// The tools of a model, as the bus derives them from the abilities that are registered.
import type { ToolDefinition } from '../../bus/tool-names.ts'
import { askUser, waitForTasks } from '../../executors/agent/toolbox.ts'
import type { AgentBus } from './agent-bus.ts'

/** Stands for any task: what the bus offers depends only on there being one. */
const anyTask = 'task-any'

/**
 * Every ability that the model of a task may call, sorted by id: all but `ldg:*`, `bus:*` and what is not for models. An agent
 * has two more of its own, `ask_user` and `wait_for_tasks`, which are no abilities.
 */
export async function getAllToolDefinitions(bus: AgentBus): Promise<ToolDefinition[]> {
  return bus.toolsFor({ surface: 'model', taskId: anyTask }, [askUser, waitForTasks]).definitions
}
