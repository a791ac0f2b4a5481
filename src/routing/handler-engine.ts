// What of an engine is needed to act on a message, as a shape of its own: the engine has it, and a test can.
import type { Task, TaskStatus } from '../entities/task.ts'
import type { ContextMessage } from './route.ts'

/** A task to create from a message. */
export interface NewTask {
  goal: string
  name?: string
  description?: string
  priority?: number
  parentId?: string
}

/** What a message may change in a task. */
export interface TaskChanges {
  name?: string
  description?: string
  priority?: number
}

/** Each method rejects with an `ErrandError` what it refuses. */
export interface HandlerEngine {
  create(task: NewTask): Promise<Task>
  /** Passes a text on to a task; refused when the task is settled. */
  send(taskId: string, text: string): Promise<Task>
  pause(taskId: string): Promise<Task>
  resume(taskId: string): Promise<Task>
  cancel(taskId: string, reason?: string): Promise<Task>
  update(taskId: string, changes: TaskChanges): Promise<Task>
  list(options: { status?: TaskStatus[]; parentId?: string | null; limit?: number }): Promise<{ tasks: Task[] }>
  get(taskId: string): Promise<Task | null>
  messages(taskId: string): Promise<readonly ContextMessage[]>
}
