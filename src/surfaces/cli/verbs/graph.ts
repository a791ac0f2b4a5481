// `errand graph`: a Mermaid diagram of a plan file, of tasks in the ledger, or of a lifecycle.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { MachineName } from '../../../engine/machine-charts.ts'
import { misuse, oneOf, texts } from '../../terminal/arguments.ts'
import { type CommandIo, print, printJson } from '../../terminal/io.ts'
import { type GraphNode, toFlowchart } from '../../terminal/mermaid.ts'
import { taskFlowchart } from '../../terminal/task-flowchart.ts'
import { cleanLine } from '../../terminal/terminal-text.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

/** Names only, so that drawing a plan does not load the machines. */
const machineNames = Object.keys({
  task: true,
  run: true,
  call: true,
  question: true,
  objective: true,
  stint: true,
  supervisor: true,
} satisfies Record<MachineName, true>) as MachineName[]
const formats = ['mermaid', 'json', 'both'] as const

export const graph = defineVerb({
  usage: `graph [ID | PLAN | --machine ${machineNames.join('|')} [--format ${formats.join('|')}]]`,
  help: [
    'Prints a Mermaid diagram of a plan file, of a task with its subtasks, or of the whole ledger; or one of the state machines of errand:',
    `  --machine NAME  ${machineNames.slice(0, -1).join(', ')} or ${machineNames.at(-1)} (the engine itself): prints a Mermaid diagram and the configuration of the XState machine, which createMachine and the Stately editor accept`,
    '  --format F      with --machine: mermaid or json; default both, separated by an empty line',
    '  --json          with --machine: print { "id", "mermaid", "config" } on one line',
  ].join('\n'),
  options: texts('machine', 'format'),
  positionals: { max: 1 },
  async run(io, { values, positionals: [subject] }) {
    if (values.machine === undefined && values.format !== undefined) throw misuse('--format needs --machine.')
    if (values.machine !== undefined && subject !== undefined) {
      throw misuse(
        `--machine draws a lifecycle: leave out "${subject}" to draw it, or leave out --machine to draw the task or plan.`,
      )
    }
    if (values.machine !== undefined) await printMachine(io, values.machine, values)
    else if (subject !== undefined && isPlanFile(io, subject)) print(io, toFlowchart(await planNodes(io, subject)))
    else {
      await withLedger(io, values, async (engine) => {
        print(io, await taskFlowchart(engine, subject === undefined ? undefined : await findTask(engine, subject)))
      })
    }
  },
})

function isPlanFile(io: CommandIo, subject: string): boolean {
  return /\.(ya?ml|json)$/i.test(subject) || existsSync(resolve(io.cwd, subject))
}

async function printMachine(
  io: CommandIo,
  machine: string,
  flags: { json?: boolean | undefined; format?: string | undefined },
): Promise<void> {
  const name = oneOf('machine', machine, machineNames)
  const format = oneOf('format', flags.format ?? 'both', formats)
  const { id, mermaid, config } = (await import('../../../index.ts')).machines[name]
  const json = JSON.stringify(config, null, 2)
  if (flags.json) printJson(io, { id, mermaid, config })
  else print(io, { mermaid, json, both: `${mermaid}\n\n${json}` }[format])
}

async function planNodes(io: CommandIo, file: string): Promise<GraphNode[]> {
  const { commandLineExecutors, readPlan } = await import('../../../plans/parse-plan.ts')
  const plan = await readPlan(file, io.cwd, commandLineExecutors)
  return Array.from(plan.byPath.values(), ({ path, name, group, parent, after }) => ({
    id: path,
    label: cleanLine(name),
    group,
    parent,
    after,
  }))
}
