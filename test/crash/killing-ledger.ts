// A ledger that kills its process with SIGKILL at the n-th step: before the step runs, or once it is durable (or refused) and before any observer
// is notified. The fault is injected through the port, not by hooks in the engine. At other points it copies the files as they are at that
// moment: what a kill would leave, for many points of one process.
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, LedgerObserver, Op, Step } from '../../src/ledger/ledger.ts'

export interface KillPoint {
  step: number
  when: 'before' | 'after'
}

/** The folder of the ledger is copied into `folder`. */
export interface Image extends KillPoint {
  folder: string
}

export interface CrashPoints {
  death?: KillPoint
  images?: readonly Image[]
}

export function createKillingLedger(inner: Ledger, { death, images = [] }: CrashPoints): WatchedLedger {
  const isAt = (point: KillPoint, other: KillPoint) => point.step === other.step && point.when === other.when
  return watchSteps(inner, (reached) => {
    if (death !== undefined && isAt(death, reached)) process.kill(process.pid, 'SIGKILL')
    for (const image of images) if (isAt(image, reached)) copyFolder(dirname(inner.name), image.folder)
  })
}

/** By another process: a process that closes any descriptor of a file loses its locks on that file. */
function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-R', `${from}/.`, to])
}

interface WatchedLedger {
  ledger: Ledger
  /** The names of all steps so far. */
  steps(): string[]
}

/** Calls `reached` before each step, and when it is durable, before any observer is notified, or refused. */
function watchSteps(inner: Ledger, reached: (point: KillPoint) => void): WatchedLedger {
  const steps: string[] = []
  const open = new Set<number>()
  /** Decided, and not known to be durable. */
  const decided = new Set<number>()
  const passed = (step: number) => {
    decided.delete(step)
    if (open.delete(step)) reached({ step, when: 'after' })
  }
  const ledger = delegateLedger(inner, {
    step<R>(step: Step<R>): Promise<R> {
      const nth = steps.push(step.name)
      open.add(nth)
      reached({ step: nth, when: 'before' })
      const watched: Step<R> = {
        ...step,
        *decide(tx): Op<R> {
          const result = yield* step.decide(tx)
          decided.add(nth)
          return result
        },
      }
      return inner.step(watched).finally(() => passed(nth))
    },
    observe: (observer: LedgerObserver, options) =>
      inner.observe(
        {
          committed(events) {
            for (const step of decided) passed(step)
            observer.committed(events)
          },
          changed: () => observer.changed(),
          failed: (error) => observer.failed(error),
        },
        options,
      ),
  })
  return { ledger, steps: () => steps }
}
