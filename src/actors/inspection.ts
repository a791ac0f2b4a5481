// Observers of the actors of an engine. They come and go at run time; without one, no inspection event is created.
import type { InspectionEvent, InspectionObserver } from './inspection-event.ts'
import { WatchedTasks, type WatchedTasksHost } from './watched-tasks.ts'

export class Inspection {
  readonly #host: WatchedTasksHost
  /** Set while an observer watches all tasks. */
  #others: { tasks: WatchedTasks; watchers: number } | undefined

  constructor(host: WatchedTasksHost) {
    this.#host = host
  }

  /**
   * Reports every existing actor to the observer, then everything that happens, until the returned function is called.
   */
  attach(observer: InspectionObserver, tasks: 'own' | 'all'): () => void {
    const notify = typeof observer === 'function' ? observer : (event: InspectionEvent) => observer.next?.(event)
    const all = tasks === 'all'
    const endings = [this.#host.actors.inspect(notify, all), ...(all ? [this.#watchOthers()] : [])]
    return () => {
      for (const end of endings.splice(0)) end()
    }
  }

  /** The feed has ended: the actors that follow it stop. Observers stay attached and see the engine close. */
  stop(): void {
    this.#others?.tasks.stop()
    this.#others = undefined
  }

  #watchOthers(): () => void {
    this.#others ??= { tasks: new WatchedTasks(this.#host), watchers: 0 }
    const others = this.#others
    others.watchers++
    return () => {
      if (--others.watchers > 0 || this.#others !== others) return
      this.stop()
    }
  }
}
