// s07's dispatch map: the four tools of a task manager, by name.

import { type BoardTools, toolsOver } from '../../board/board-tools.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { boardCallOf, isEngine, TaskManager, type TaskManagerOptions } from './task-manager.ts'

/**
 * Returns `task_create`, `task_update`, `task_list` and `task_get` as schemas, handlers and a dispatch function. Each takes the input of
 * a model and resolves to text, `Error: …` included. Closing the tools does not close the manager.
 *
 * @example
 * const { handlers: TOOL_HANDLERS, tools: TOOLS } = createTaskTools(new TaskManager('.tasks'))
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function createTaskTools(target: TaskManager | Engine, options: TaskManagerOptions = {}): BoardTools {
  const manager = isEngine(target) ? new TaskManager(target, options) : target
  if (manager === target && Object.keys(options).length > 0) {
    throw new ErrandError('INVALID_INPUT', 'A TaskManager already has its options. Pass them to its constructor.', {
      options: Object.keys(options),
    })
  }
  return toolsOver({ call: boardCallOf(manager), close: () => {} })
}
