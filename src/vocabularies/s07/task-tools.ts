// s07's dispatch map: the four tools of a manager, by name.

import { type BoardTools, toolsOver } from '../../board/board-tools.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine-api.ts'
import { isEngine, lineOf, TaskManager, type TaskManagerOptions } from './task-manager.ts'

/**
 * `task_create`, `task_update`, `task_list` and `task_get` as schemas, handlers and a dispatch: each takes what a model gave and
 * resolves to text, `Error: …` included. Closing them closes nothing: the manager is its owner's.
 *
 * @example
 * const { handlers: TOOL_HANDLERS, tools: TOOLS } = createTaskTools(new TaskManager('.tasks'))
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function createTaskTools(place: TaskManager | Engine, options: TaskManagerOptions = {}): BoardTools {
  const manager = isEngine(place) ? new TaskManager(place, options) : place
  if (manager === place && Object.keys(options).length > 0) {
    throw new ErrandError('INVALID_INPUT', 'A TaskManager has its options already: give them where it is made.', {
      options: Object.keys(options),
    })
  }
  return toolsOver({ call: lineOf(manager), close: () => {} })
}
