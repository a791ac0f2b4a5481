// The traits of the executors of working engines, published in the ledger for processes without these executors: whether an executor runs
// commands, whether it asks people, and the structure of the machine that it performs.
import { type AnyExecutor, isExecutor } from '../../entities/executor.ts'
import type { MachineChartView } from '../../entities/machine-view.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'

export interface PublishedTraits {
  runsCommands: boolean
  asksPeople: boolean
}

const setting = 'executors'
const chartSetting = (executor: string) => `machine:${executor}`

export function* publishExecutors(tx: Tx, executors: ReadonlyMap<string, AnyExecutor>): Op<void> {
  const known = yield* publishedExecutors(tx)
  const own = Object.fromEntries([...executors].map(([name, executor]) => [name, traitsOf(executor)]))
  const isChange = Object.entries(own).some(
    ([name, { runsCommands, asksPeople }]) =>
      known[name]?.runsCommands !== runsCommands || known[name]?.asksPeople !== asksPeople,
  )
  if (isChange) yield* tx.setting.put(setting, { ...known, ...own })
  for (const [name, executor] of executors) {
    const chart = isExecutor(executor) ? executor.machine?.chart() : undefined
    if (chart === undefined) continue
    const isKnown = JSON.stringify(yield* publishedChart(tx, name)) === JSON.stringify(chart)
    if (!isKnown) yield* tx.setting.put(chartSetting(name), chart)
  }
}

function traitsOf(executor: AnyExecutor): PublishedTraits {
  if (!isExecutor(executor)) return { runsCommands: false, asksPeople: false }
  return { runsCommands: executor.runsCommands, asksPeople: executor.asksPeople }
}

export function* publishedExecutors(tx: Reads): Op<Readonly<Record<string, PublishedTraits | undefined>>> {
  return ((yield* tx.setting.get(setting)) as Record<string, PublishedTraits> | undefined) ?? {}
}

/** Undefined for an executor that is no machine, and as long as no engine that has it has worked. */
export function* publishedChart(tx: Reads, executor: string): Op<MachineChartView | undefined> {
  return (yield* tx.setting.get(chartSetting(executor))) as MachineChartView | undefined
}
