// Two engines on one ledger, each of which can hang (nothing of it reaches ledger or clock until it wakes), crash
// (nothing of it ever does again) and be closed and reopened. Time, ids and the ends of executors are controlled by the
// test.
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../src/core/clock.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { Task } from '../../../src/entities/task.ts'
import type { Ledger, LedgerObserver, Step } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { createSequentialIds, SimulatedClock } from '../../../src/testing/index.ts'
import { Audit, type EngineLimits, type Sender } from './audit.ts'

export const leaseMs = 900
export const initialLimits: EngineLimits = { maxConcurrent: 2, narrow: 1 }

/** A run controlled by the test. */
export interface Puppet {
  readonly host: Host
  readonly taskId: string
  readonly run: Run
  readonly stubborn: boolean
  over: boolean
  aborted: boolean
  return(): void
  throw(code: string): void
}

/** Replaces a step on its way to the ledger. */
export type Fault = (step: Step, host: Host) => Step | Promise<Step>

export interface WorldOptions {
  /** A connection for each engine; without it both share one ledger in memory. */
  file?: string
  fault?: Fault
}

/** One engine's view of ledger and clock. */
export class Host {
  readonly world: World
  readonly number: number
  engine: Engine | undefined
  limits: EngineLimits = { ...initialLimits }
  #place: EngineView | undefined
  #inner: Ledger | undefined
  /** Closing or opening. */
  changing: Promise<void> | undefined

  constructor(world: World, number: number) {
    this.world = world
    this.number = number
  }

  get hangs(): boolean {
    return this.#place?.state === 'hung'
  }

  /** Resolves when this engine dies. */
  get died(): Promise<void> | undefined {
    return this.#place?.died
  }

  /** The engine, if it can be given a command. */
  get awake(): Engine | undefined {
    return this.#place?.state === 'up' ? this.engine : undefined
  }

  async open(): Promise<void> {
    const { world } = this
    this.limits = { ...initialLimits }
    this.#inner = world.shared ?? (await openLedger(world.file as string, world.clock))
    const place = new EngineView(this, this.#inner)
    this.#place = place
    this.engine = (await createEngine({
      ledger: place.ledger,
      clock: place.clock,
      ids: world.ids,
      executors: {
        work: (task, run) => world.play(place, task, run),
        narrow: (task, run) => world.play(place, task, run),
      },
      maxConcurrent: this.limits.maxConcurrent,
      limits: { narrow: this.limits.narrow },
      leaseMs,
      abortGraceMs: 60,
      shutdownTimeoutMs: 50,
      onError: (error, context) => {
        if (place.state !== 'dead') world.audit.broken.push(`reported: ${String(error)} ${JSON.stringify(context)}`)
      },
    })) as unknown as Engine
  }

  hang(): void {
    if (this.engine !== undefined) this.#place?.hang()
  }

  wake(): void {
    this.#place?.wake()
  }

  /** Dies without closing, and restarts as another instance. */
  crash(): void {
    const place = this.#place
    if (this.engine === undefined || place === undefined || this.changing) return
    this.world.dead.add(this.engine.instanceId)
    place.die()
    const inner = this.#inner as Ledger
    this.#change(async () => {
      await setImmediate()
      if (this.world.shared === undefined) await inner.close()
    })
  }

  /** Closes, and reopens. */
  restart(): void {
    const { engine } = this
    if (engine === undefined || this.changing || this.hangs) return
    const inner = this.#inner as Ledger
    this.#change(async () => {
      await engine.close()
      if (this.world.shared === undefined) await inner.close()
    })
  }

  #change(leave: () => Promise<void>): void {
    this.engine = undefined
    this.changing = leave()
      .then(() => this.open())
      .finally(() => {
        this.changing = undefined
      })
  }

  /** The ledger as it is, for outside readers. */
  get view(): Ledger {
    return this.#inner as Ledger
  }

  async close(): Promise<void> {
    this.wake()
    await this.changing
    await this.engine?.close()
    if (this.world.shared === undefined) await this.#inner?.close()
  }
}

/** One engine's view of the world, from its opening to its end. */
export class EngineView {
  readonly host: Host
  state: 'up' | 'hung' | 'dead' = 'up'
  readonly ledger: Ledger
  readonly clock: Clock
  /** Resolves when it dies: requests to it are never answered. */
  readonly died: Promise<void>
  #diedNow: () => void = () => {}
  #heldBack: Array<() => void> = []
  readonly #observers = new Map<LedgerObserver, () => void>()

  constructor(host: Host, inner: Ledger) {
    this.host = host
    this.died = new Promise((resolve) => (this.#diedNow = resolve))
    this.clock = this.#clockOver(host.world.clock)
    this.ledger = this.#ledgerOver(inner)
  }

  hang(): void {
    if (this.state === 'up') this.state = 'hung'
  }

  wake(): void {
    if (this.state !== 'hung') return
    this.state = 'up'
    for (const work of this.#heldBack.splice(0)) work()
    // It reads by itself what was published while it hung.
    for (const observer of this.#observers.keys()) observer.changed()
  }

  die(): void {
    this.state = 'dead'
    this.#heldBack = []
    for (const stop of this.#observers.values()) stop()
    this.#diedNow()
  }

  #pass(work: () => void): void {
    if (this.state === 'up') work()
    else if (this.state === 'hung') this.#heldBack.push(work)
  }

  #through<R>(work: () => Promise<R>): Promise<R> {
    if (this.state === 'up') return work()
    return new Promise((resolve, reject) => this.#pass(() => void work().then(resolve, reject)))
  }

  #clockOver(clock: SimulatedClock): Clock {
    return {
      now: () => clock.now(),
      setTimeout: (fire, ms) => {
        const timer = { id: undefined as unknown, cleared: false }
        timer.id = clock.setTimeout(() => this.#pass(() => timer.cleared || fire()), ms)
        return timer
      },
      clearTimeout: (timer) => {
        if (timer === undefined || timer === null) return
        ;(timer as { cleared: boolean }).cleared = true
        clock.clearTimeout((timer as { id: unknown }).id)
      },
    }
  }

  #ledgerOver(inner: Ledger): Ledger {
    const { host } = this
    const { world } = host
    return {
      name: inner.name,
      step: (step) => {
        const issued = { limits: { ...host.limits }, sender: world.sender }
        return this.#through(async () => {
          const sent = world.fault === undefined ? step : await world.fault(step, host)
          return inner.step(world.audit.watch(sent, issued)) as Promise<never>
        })
      },
      read: (query) => this.#through(() => inner.read(query)),
      register: (id) => inner.register(id),
      isAlive: async (id) => (world.dead.has(id) ? 'dead' : inner.isAlive(id)),
      unregister: (id) => inner.unregister(id),
      observe: (observer, options) => {
        const stop = inner.observe(
          {
            committed: (events) => this.state === 'up' && observer.committed(events),
            changed: () => this.state === 'up' && observer.changed(),
            failed: (error) => observer.failed(error),
          },
          options,
        )
        const leave = (): void => {
          this.#observers.delete(observer)
          stop()
        }
        this.#observers.set(observer, leave)
        return leave
      },
      close: () => Promise.resolve(),
    }
  }
}

export class World {
  readonly clock = new SimulatedClock()
  readonly ids = createSequentialIds()
  readonly audit = new Audit()
  readonly hosts: readonly [Host, Host]
  readonly dead = new Set<string>()
  readonly fault: Fault | undefined
  readonly file: string | undefined
  shared: Ledger | undefined
  /** The sender of the step that is being issued. */
  sender: Sender | undefined
  puppets: Puppet[] = []
  /** The latest run of a task that an engine has begun. */
  readonly begun = new Map<string, number>()
  /** What the runs of a task have requested so far: each later one requests it again. */
  readonly asked = new Map<string, Array<(run: Run) => void>>()

  private constructor({ file, fault }: WorldOptions) {
    this.file = file
    this.fault = fault
    this.hosts = [new Host(this, 0), new Host(this, 1)]
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const world = new World(options)
    if (world.file === undefined) world.shared = await openLedger(':memory:', world.clock)
    for (const host of world.hosts) await host.open()
    return world
  }

  /** The executor of both engines: it ends as the test says, or at its signal, unless it is stubborn. */
  play(place: EngineView, task: ExecutorTask<unknown>, run: Run): Promise<string> {
    const stubborn = (task.input as { stubborn?: boolean } | null)?.stubborn === true
    return new Promise<string>((resolve, reject) => {
      const puppet: Puppet = {
        host: place.host,
        taskId: task.id,
        run,
        stubborn,
        over: false,
        aborted: false,
        return: () => {
          puppet.over = true
          resolve('done')
        },
        throw: (code) => {
          puppet.over = true
          reject(Object.assign(new Error('broke'), { code }))
        },
      }
      // A dead engine does nothing more.
      if (place.state === 'dead') return
      this.begun.set(`${place.host.number} ${task.id}`, run.number)
      this.puppets = this.puppets.filter((each) => !each.over)
      this.puppets.push(puppet)
      run.signal.addEventListener('abort', () => {
        puppet.aborted = true
        if (!stubborn) puppet.throw('ABORTED')
      })
      for (const ask of this.asked.get(task.id) ?? []) ask(run)
    })
  }

  /** The runs that can still be given a command. */
  get awake(): Puppet[] {
    return this.puppets.filter((puppet) => !puppet.over && puppet.host.awake !== undefined && this.isCurrent(puppet))
  }

  isCurrent(puppet: Puppet): boolean {
    return this.audit.rows.get(puppet.taskId)?.run === puppet.run.number
  }

  engine(preferred: number): Engine | undefined {
    return (this.hosts[preferred as 0 | 1].awake ?? this.hosts[(1 - preferred) as 0 | 1].awake) as Engine | undefined
  }

  async create(host: Host, input: { stubborn: boolean }): Promise<Task> {
    const task = await (host.engine as Engine).create({ executor: 'work' as never, input })
    await turns(3)
    return task
  }

  /** Issues a write with its sender, so that the audit can check it. */
  sendAs<R>(sender: Sender, work: () => R): R {
    this.sender = sender
    try {
      return work()
    } finally {
      this.sender = undefined
    }
  }

  /** Checks all laws of all tasks. */
  async inspect(where: string): Promise<void> {
    const ledger = this.view
    await ledger.read((tx) => this.audit.all(tx, where))
  }

  get view(): Ledger {
    const place = this.hosts.find((host) => host.awake)
    if (place === undefined) throw new Error('No engine is awake')
    return place.view
  }

  async close(): Promise<void> {
    let over = false
    const closed = Promise.all(this.hosts.map((host) => host.close())).finally(() => (over = true))
    for (const puppet of this.puppets) if (!puppet.over) puppet.throw('OVER')
    // A clock that stands still would give up no run.
    while (!over) {
      this.clock.increment(400)
      await setImmediate()
    }
    await closed
    await this.shared?.close()
  }
}

/** A few turns of the event loop, each with its commit. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

export function refusal(error: unknown): string {
  if (ErrandError.isInstance(error)) return error.code
  throw error
}
