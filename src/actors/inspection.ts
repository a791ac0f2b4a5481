// Observers of the actors of an engine. They come and go at run time; without one, no inspection event is created.
import { guarded } from '../core/guarded.ts'
import type { InspectionEvent, InspectionObserver, InspectOptions } from './inspection-event.ts'
import { WatchedTasks, type WatchedTasksHost } from './watched-tasks.ts'

/** Options with their defaults. */
type ParsedInspectOptions = Required<Pick<InspectOptions, 'tasks' | 'maxTasks'>> & Pick<InspectOptions, 'onLeftOut'>

export class Inspection {
  readonly #host: WatchedTasksHost
  /** Set while an observer watches all tasks; for each of them, whom to notify of those that are left out. */
  #others: { tasks: WatchedTasks; leftOut: Set<(count: number) => void> } | undefined

  constructor(host: WatchedTasksHost) {
    this.#host = host
  }

  /**
   * Reports every existing actor to the observer, then everything that happens, until the returned function is called.
   */
  attach(observer: InspectionObserver, { tasks, maxTasks, onLeftOut }: ParsedInspectOptions): () => void {
    const notify = typeof observer === 'function' ? observer : (event: InspectionEvent) => observer.next?.(event)
    const all = tasks === 'all'
    const endings = [this.#host.actors.inspect(notify, all), ...(all ? [this.#watchOthers(maxTasks, onLeftOut)] : [])]
    return () => {
      for (const end of endings.splice(0)) end()
    }
  }

  /** The feed has ended: the actors that follow it stop. Observers stay attached and see the engine close. */
  stop(): void {
    this.#others?.tasks.stop()
    this.#others = undefined
  }

  #watchOthers(maxTasks: number, given: ((count: number) => void) | undefined): () => void {
    const leftOut = this.#others?.leftOut ?? new Set()
    // Each observer has a function of its own here: it may pass the same one as another.
    const onLeftOut = (count: number): void => given?.(count)
    leftOut.add(onLeftOut)
    const notify = (count: number): void => {
      for (const each of leftOut) {
        guarded(
          () => each(count),
          (error) => this.#host.report(error, { doing: 'say how many tasks are left out' }),
        )
      }
    }
    this.#others ??= { tasks: new WatchedTasks(this.#host, maxTasks, notify), leftOut }
    const others = this.#others
    others.tasks.widen(maxTasks)
    if (given !== undefined) others.tasks.count()
    return () => {
      leftOut.delete(onLeftOut)
      if (leftOut.size === 0 && this.#others === others) this.stop()
    }
  }
}
