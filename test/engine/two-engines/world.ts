// Two engines at one ledger, each in a seat that can hang (nothing of it reaches ledger or clock until it wakes), crash (nothing
// of it ever does again) and be closed and opened anew. Time, ids and the ends of executors are in the hands of the test.
import { setImmediate } from 'node:timers/promises'
import type { ExecutorTask, Run } from '../../../src/api/executor.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import { createEngine } from '../../../src/create-engine.ts'
import type { Engine } from '../../../src/engine-api.ts'
import type { Task } from '../../../src/entities/task.ts'
import type { Ledger, LedgerObserver, Step } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { createSequentialIds, SimulatedClock } from '../../../src/testing/index.ts'
import { Audit, type EngineLimits, type Quoted } from './audit.ts'

export const leaseMs = 900
export const initialLimits: EngineLimits = { maxConcurrent: 2, narrow: 1 }

/** A run in the hands of the test. */
export interface Puppet {
  readonly seat: MirrorLease
  readonly taskId: string
  readonly run: Run
  readonly stubborn: boolean
  over: boolean
  aborted: boolean
  return(): void
  throw(code: string): void
}

/** Replaces a step on its way to the ledger. */
export type Fault = (step: Step, seat: MirrorLease) => Step | Promise<Step>

export interface WorldOptions {
  /** Where each engine has a connection of its own; without it both share one ledger in memory. */
  file?: string
  fault?: Fault
}

/** Where an engine sits: what it sees of ledger and clock. */
export class MirrorLease {
  readonly world: World
  readonly number: number
  engine: Engine | undefined
  limits: EngineLimits = { ...initialLimits }
  #place: Place | undefined
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

  /** Resolves when the engine that sits here dies. */
  get died(): Promise<void> | undefined {
    return this.#place?.died
  }

  /** It can be told something. */
  get awake(): Engine | undefined {
    return this.#place?.state === 'up' ? this.engine : undefined
  }

  async open(): Promise<void> {
    const { world } = this
    this.limits = { ...initialLimits }
    this.#inner = world.shared ?? (await openLedger(world.file as string, world.clock))
    const place = new Place(this, this.#inner)
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

  /** Dies without a word, and comes back as another. */
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

  /** Closes, and opens anew. */
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

  /** The ledger as it is, for whoever looks from outside. */
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
export class Place {
  readonly seat: MirrorLease
  state: 'up' | 'hung' | 'dead' = 'up'
  readonly ledger: Ledger
  readonly clock: Clock
  /** Resolves when it dies: what was asked of it is never answered. */
  readonly died: Promise<void>
  #diedNow: () => void = () => {}
  #heldBack: Array<() => void> = []
  readonly #observers = new Map<LedgerObserver, () => void>()

  constructor(seat: MirrorLease, inner: Ledger) {
    this.seat = seat
    this.died = new Promise((resolve) => (this.#diedNow = resolve))
    this.clock = this.#clockOver(seat.world.clock)
    this.ledger = this.#ledgerOver(inner)
  }

  hang(): void {
    if (this.state === 'up') this.state = 'hung'
  }

  wake(): void {
    if (this.state !== 'hung') return
    this.state = 'up'
    for (const work of this.#heldBack.splice(0)) work()
    // What it was not told of while it hung it reads for itself.
    for (const observer of this.#observers.keys()) observer.stirred()
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
    const { seat } = this
    const { world } = seat
    return {
      name: inner.name,
      step: (step) => {
        const issued = { limits: { ...seat.limits }, quote: world.quote }
        return this.#through(async () => {
          const sent = world.fault === undefined ? step : await world.fault(step, seat)
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
            stirred: () => this.state === 'up' && observer.stirred(),
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
  readonly seats: readonly [MirrorLease, MirrorLease]
  readonly dead = new Set<string>()
  readonly fault: Fault | undefined
  readonly file: string | undefined
  shared: Ledger | undefined
  /** By whom the step that is being issued says that it is. */
  quote: Quoted | undefined
  puppets: Puppet[] = []
  /** The latest run that a seat has begun of a task. */
  readonly begun = new Map<string, number>()
  /** What the runs of a task have asked for so far: each later one asks for it again. */
  readonly asked = new Map<string, Array<(run: Run) => void>>()

  private constructor({ file, fault }: WorldOptions) {
    this.file = file
    this.fault = fault
    this.seats = [new MirrorLease(this, 0), new MirrorLease(this, 1)]
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const world = new World(options)
    if (world.file === undefined) world.shared = await openLedger(':memory:', world.clock)
    for (const seat of world.seats) await seat.open()
    return world
  }

  /** The executor of both engines: it ends as the test says, or when it is told to stop, unless it is stubborn. */
  play(place: Place, task: ExecutorTask<unknown>, run: Run): Promise<string> {
    const stubborn = (task.input as { stubborn?: boolean } | null)?.stubborn === true
    return new Promise<string>((resolve, reject) => {
      const puppet: Puppet = {
        seat: place.seat,
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
      // Whoever is dead acts no more.
      if (place.state === 'dead') return
      this.begun.set(`${place.seat.number} ${task.id}`, run.number)
      this.puppets = this.puppets.filter((each) => !each.over)
      this.puppets.push(puppet)
      run.signal.addEventListener('abort', () => {
        puppet.aborted = true
        if (!stubborn) puppet.throw('ABORTED')
      })
      for (const ask of this.asked.get(task.id) ?? []) ask(run)
    })
  }

  /** The runs that can still be told something. */
  get awake(): Puppet[] {
    return this.puppets.filter((puppet) => !puppet.over && puppet.seat.awake !== undefined && this.isCurrent(puppet))
  }

  isCurrent(puppet: Puppet): boolean {
    return this.audit.rows.get(puppet.taskId)?.run === puppet.run.number
  }

  engine(preferred: number): Engine | undefined {
    return (this.seats[preferred as 0 | 1].awake ?? this.seats[(1 - preferred) as 0 | 1].awake) as Engine | undefined
  }

  async create(seat: MirrorLease, input: { stubborn: boolean }): Promise<Task> {
    const task = await (seat.engine as Engine).create({ executor: 'work' as never, input })
    await turns(3)
    return task
  }

  /** Issues a write that says whom it is from, so that the audit knows too. */
  quoting<R>(quote: Quoted, work: () => R): R {
    this.quote = quote
    try {
      return work()
    } finally {
      this.quote = undefined
    }
  }

  /** Asks all laws of all tasks. */
  async inspect(where: string): Promise<void> {
    const ledger = this.view
    await ledger.read((tx) => this.audit.all(tx, where))
  }

  get view(): Ledger {
    const place = this.seats.find((seat) => seat.awake)
    if (place === undefined) throw new Error('No engine is awake')
    return place.view
  }

  async close(): Promise<void> {
    let over = false
    const closed = Promise.all(this.seats.map((seat) => seat.close())).finally(() => (over = true))
    for (const puppet of this.puppets) if (!puppet.over) puppet.throw('OVER')
    // A clock that stands still would let nobody give up.
    while (!over) {
      this.clock.advance(400)
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
