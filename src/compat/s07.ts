// The public entry `errand/s07`: the file-based task system of s07 under its own names, over the board of one engine. It only translates
// names; states, edges, numbers and files are the engine's.
export type { BoardToolName as TaskToolName, BoardTools as TaskTools } from '../board/board-tools.ts'
export { openTaskManager, TaskManager, type TaskManagerOptions, type TaskStatus } from './s07/task-manager.ts'
export { createTaskTools } from './s07/task-tools.ts'
