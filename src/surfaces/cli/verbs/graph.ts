// `errand graph`: what comes after what, as a Mermaid diagram: of a plan file, of tasks in the ledger, or of a
// lifecycle.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Engine } from '../../../api.ts'
import type { Task } from '../../../entities/task.ts'
import { oneOf } from '../arguments.ts'
import { allTasks } from '../each-task.ts'
import { exitCodes } from '../exit-code.ts'
import { type CommandIo, print } from '../io.ts'
import { type GraphNode, toFlowchart } from '../mermaid.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { stateWord } from '../task-words.ts'
import { cleanLine } from '../terminal-text.ts'
import { defineVerb } from '../verb.ts'

export const graphVerb = defineVerb({
  usage: 'graph [ID | PLAN | --machine task|call]',
  help: 'Prints a Mermaid diagram: of a plan file, of a task and everything below it, of the whole ledger, or of the lifecycle of tasks or calls.',
  options: { machine: { type: 'string' } },
  positionals: { max: 1 },
  async run(io, { values, positionals: [subject] }) {
    if (values.machine !== undefined) print(io, await drawMachine(oneOf('machine', values.machine, ['task', 'call'])))
    else if (subject !== undefined && isPlanFile(io, subject)) print(io, toFlowchart(await planNodes(io, subject)))
    else {
      await withLedger(io, values, async (engine) => {
        const root = subject === undefined ? undefined : await findTask(engine, subject)
        const tasks = root === undefined ? await allTasks(engine) : [root, ...(await engine.subtree(root.id))]
        print(io, toFlowchart(await taskNodes(engine, tasks)))
      })
    }
    return exitCodes.done
  },
})

function isPlanFile(io: CommandIo, subject: string): boolean {
  return /\.(ya?ml|json)$/i.test(subject) || existsSync(resolve(io.cwd, subject))
}

async function drawMachine(machine: 'task' | 'call'): Promise<string> {
  const { toMermaid } = await import('../../../machines/diagram.ts')
  if (machine === 'call')
    return toMermaid('pending', (await import('../../../machines/call-machine.ts')).callTransitions)
  return toMermaid('submitted', (await import('../../../machines/task-machine.ts')).taskTransitions)
}

async function planNodes(io: CommandIo, file: string): Promise<GraphNode[]> {
  const { readPlan } = await import('../parse-plan.ts')
  const plan = await readPlan(file, io.cwd)
  return [...plan.byPath.values()].map((task) => ({
    id: task.path,
    label: cleanLine(task.name),
    group: task.group,
    parent: task.parent,
    after: task.after,
  }))
}

/** Every edge, satisfied ones too: a finished plan still shows what came after what. */
async function taskNodes(engine: Engine, tasks: readonly Task[]): Promise<GraphNode[]> {
  const parents = new Set(tasks.map((task) => task.parentId))
  const sorted = [...tasks].sort((a, b) => a.seq - b.seq)
  return Promise.all(
    sorted.map(async (task) => ({
      id: task.id,
      label: cleanLine(`${task.name}: ${stateWord(task)}`),
      group: parents.has(task.id),
      parent: task.parentId,
      after: (await engine.dependencies(task)).map((blocker) => blocker.id),
      status: task.status,
    })),
  )
}
