// `errand completion`: prints a script for a shell, made from the definitions of the verbs, or what such a script completes.
import { misuse } from '../../terminal/arguments.ts'
import { type CommandIo, print } from '../../terminal/io.ts'
import { completionScript, shells } from '../completion-script.ts'
import { ledgerExists } from '../ledger-path.ts'
import { defineVerb } from '../verb.ts'

export const completion = defineVerb({
  usage: `completion ${shells.join('|')}`,
  help: [
    'Prints a script with which the TAB key completes the verbs and options of errand, the numbers and names of tasks, and the targets of a',
    'plan; also after "npx errand", for which it starts the errand of the project. After "npm exec", "pnpm" and "yarn" it completes nothing.',
    '  bash  source <(errand completion bash)            in ~/.bashrc',
    '  zsh   source <(errand completion zsh)             in ~/.zshrc, after compinit',
    '  fish  errand completion fish | source             in ~/.config/fish/config.fish',
    'The scripts call "errand completion tasks" and "errand completion targets PLAN", which create no ledger and ask nothing.',
  ].join('\n'),
  positionals: { max: 2 },
  async run(io, { values, positionals: [what, plan] }, all) {
    if (what === 'tasks') return await printTasks(io, values)
    if (what === 'targets' && plan !== undefined) return await printTargets(io, plan)
    const known = shells.find((each) => each === what)
    if (known === undefined) {
      const got = what === undefined ? 'The shell is missing' : `There is no completion for "${what}"`
      throw misuse(`${got}. The shells are ${shells.join(', ')}, as in "errand completion bash".`)
    }
    print(io, await completionScript(known, await all()))
  },
})

/** A list of more cannot be read at a prompt. */
const maxTasks = 300
/** Completed without quotes in every shell. */
const plainWord = /^\w[\w./-]*$/

/** Each word with its description after a tab. All tasks if they are few, else those that are open or failed. */
async function printTasks(io: CommandIo, flags: { ledger?: string | undefined }): Promise<void> {
  const { openableLedger } = await import('../trusted-ledger.ts')
  if (!ledgerExists(await openableLedger(io, flags))) return
  const { withLedger } = await import('../open-ledger.ts')
  const { openStatuses } = await import('../../../entities/task.ts')
  const { stateLabel, taskNumber } = await import('../../terminal/task-labels.ts')
  const { cleanLine } = await import('../../terminal/terminal-text.ts')
  const { tasks } = await withLedger(io, flags, async (engine) => {
    const every = await engine.list({ limit: maxTasks })
    return every.next === null ? every : await engine.list({ status: [...openStatuses, 'failed'], limit: maxTasks })
  })
  print(io, [
    ...tasks.map((task) => `${task.seq}\t${cleanLine(task.name)}, ${stateLabel(task)}`),
    ...tasks
      .filter(({ name }) => plainWord.test(name))
      .map((task) => `${task.name}\t${taskNumber(task)} ${stateLabel(task)}`),
  ])
}

async function printTargets(io: CommandIo, file: string): Promise<void> {
  const { commandLineExecutors, readPlan } = await import('../../../plans/parse-plan.ts')
  const { cleanLine } = await import('../../terminal/terminal-text.ts')
  const plan = await readPlan(file, io.cwd, commandLineExecutors)
  const targets = [...plan.byPath.values()].filter(({ path }) => plainWord.test(path))
  print(
    io,
    targets.map(({ path, name }) => `${path}\t${cleanLine(name)}`),
  )
}
