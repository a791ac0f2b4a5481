// Who watches the actors of an engine: observers come and go at run time, and until the first one comes nothing is made for them.
import type { InspectionEvent, InspectionObserver } from './inspection-event.ts'
import { WatchedTasks, type WatchedTasksHost } from './watched-tasks.ts'

export class Inspection {
  readonly #host: WatchedTasksHost
  /** While somebody watches all tasks. */
  #others: { tasks: WatchedTasks; watchers: number } | undefined

  constructor(host: WatchedTasksHost) {
    this.#host = host
  }

  /** The observer hears of every actor that is there, then of all that happens, until what is returned is called. */
  attach(observer: InspectionObserver, tasks: 'own' | 'all'): () => void {
    const tell = typeof observer === 'function' ? observer : (event: InspectionEvent) => observer.next?.(event)
    const all = tasks === 'all'
    const endings = [this.#host.actors.inspect(tell, all), ...(all ? [this.#watchOthers()] : [])]
    return () => {
      for (const end of endings.splice(0)) end()
    }
  }

  /** The feed has come to its end: actors that it led let go. Observers stay, and see the engine close. */
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
