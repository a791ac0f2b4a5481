// How a run is told: rewritten on a terminal (live-tree.ts), line by line elsewhere (plain-lines.ts), or as events
// (json-lines.ts).
import type { TaskEvent } from '../../entities/event.ts'
import type { Row } from './run-view.ts'

export interface Reporter {
  /** It rewrites the terminal: nobody else may write to it before its end. */
  readonly ownsScreen: boolean
  /** An event of a task of the plan, and the task's row after it. */
  event(event: TaskEvent, row: Row): void
  /** Nothing is shown any more; gives the terminal back as it was. */
  end(): void
}
