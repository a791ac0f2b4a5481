// Waits until the machine has nothing else to do. The load average decides before the first round; later it still remembers the rounds
// before, so then the time that others spend on the processors while this process rests is measured instead.
import { cpus, loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const maxLoad = 0.5
/** Share of all processors. */
const maxTakenByOthers = 0.1
const lookMs = 1_000

export interface Calm {
  /** The load average of the last minute. */
  load: number
  /** The share of all processors that was busy while this process rested. */
  takenByOthers: number
  waitedMs: number
  isCalm: boolean
}

/** @param first Before the first round: the load average counts too. */
export async function waitForCalm(first: boolean, patienceMs: number, say: (text: string) => void): Promise<Calm> {
  const began = performance.now()
  let said = false
  for (;;) {
    const takenByOthers = await busyShare()
    const load = loadavg()[0] as number
    const isCalm = takenByOthers <= maxTakenByOthers && (!first || load <= maxLoad)
    const waitedMs = Math.round(performance.now() - began)
    if (isCalm || waitedMs >= patienceMs) {
      if (!isCalm) say(`  the machine is not calm (${text(load, takenByOthers)}); measuring all the same`)
      return { load, takenByOthers, waitedMs, isCalm }
    }
    if (!said) say(`  waiting for a calm machine: ${text(load, takenByOthers)}`)
    said = true
    await delay(lookMs)
  }
}

const text = (load: number, taken: number): string =>
  `load average ${load.toFixed(2)}, others take ${(taken * 100).toFixed(0)} % of the processors`

async function busyShare(): Promise<number> {
  const before = times()
  await delay(lookMs)
  const after = times()
  const all = after.all - before.all
  return all <= 0 ? 0 : (all - (after.idle - before.idle)) / all
}

function times(): { idle: number; all: number } {
  let [idle, all] = [0, 0]
  for (const { times: each } of cpus()) {
    idle += each.idle
    all += each.user + each.nice + each.sys + each.idle + each.irq
  }
  return { idle, all }
}
