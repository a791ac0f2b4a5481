// All verbs by name, grouped by what one wants to do. A module is loaded when its verb is used, so that a command that lists tasks does
// not load the plan parser. The verbs that only apply an operation to each of several tasks derive from the operations, which are loaded for
// them and for lists of all verbs.
import { type VerbTable, verbTable } from './verb.ts'

export interface VerbGroup {
  title: string
  verbs: VerbTable
  /** The group of the operations whose verbs belong here too. */
  derived?: 'steer' | 'ledger'
  /** Commands with what they do. */
  examples: ReadonlyArray<readonly [command: string, meaning: string]>
}

const ownGroups: readonly VerbGroup[] = [
  {
    title: 'Run work',
    verbs: verbTable({
      init: { summary: 'write a first plan and an example program', load: () => import('./verbs/init.ts') },
      run: { summary: 'run a plan, or continue it', load: () => import('./verbs/run.ts') },
      ask: { summary: 'give an agent a goal and run it here', load: () => import('./verbs/ask.ts') },
      chat: { summary: 'talk with agents, line by line', load: () => import('./verbs/chat.ts') },
      add: { summary: 'create one task', load: () => import('./verbs/add.ts') },
      schedule: { summary: 'create a task at certain times', load: () => import('./verbs/schedule.ts') },
      serve: {
        summary: 'run the tasks of a ledger, and serve it over HTTP with a page',
        load: () => import('./verbs/serve.ts'),
      },
    }),
    examples: [
      ['errand run plan.yaml', 'run a plan; after a crash the same command continues it'],
      ['errand add --run "npm test"', 'create a task that "errand serve" runs'],
    ],
  },
  {
    title: 'See what happens',
    verbs: verbTable({
      ps: { summary: 'list tasks', load: () => import('./verbs/ps.ts') },
      tree: { summary: 'show tasks with their subtasks', load: () => import('./verbs/tree.ts') },
      show: { summary: 'show everything about a task', load: () => import('./verbs/show.ts') },
      logs: { summary: 'print the output and messages of a task', load: () => import('./verbs/logs.ts') },
      why: { summary: 'explain why a task does not run', load: () => import('./verbs/why.ts') },
      graph: {
        summary: 'draw tasks, a plan or a lifecycle as a Mermaid diagram',
        load: () => import('./verbs/graph.ts'),
      },
      inspect: {
        summary: 'watch tasks in the browser, or with an inspector',
        load: () => import('./verbs/inspect.ts'),
      },
      machine: {
        summary: 'find what in a state machine would not survive a restart',
        load: () => import('./verbs/machine.ts'),
      },
    }),
    examples: [
      ['errand ps --watch', 'keep showing the open tasks'],
      ['errand why "#3"', 'find out what task 3 waits for'],
    ],
  },
  {
    title: 'Answer and steer tasks',
    derived: 'steer',
    verbs: verbTable({
      answer: { summary: 'answer the question of a task', load: () => import('./verbs/answer.ts') },
      send: { summary: 'send a message to a task', load: () => import('./verbs/send.ts') },
      fork: { summary: 'continue a task from an earlier point, as a new task', load: () => import('./verbs/fork.ts') },
      signal: { summary: 'send a task what it waits for by name', load: () => import('./verbs/signal.ts') },
      block: { summary: 'make a task wait for others', load: () => import('./verbs/block.ts') },
      unblock: { summary: 'stop a task from waiting for others', load: () => import('./verbs/unblock.ts') },
      limit: {
        summary: 'limit how many tasks run at once, in all processes',
        load: () => import('./verbs/limit.ts'),
      },
    }),
    examples: [
      ['errand answer "#4" true', 'answer the question of task 4'],
      ['errand cancel "#3" --reason "not needed"', 'cancel task 3 and what is below it'],
    ],
  },
  {
    title: 'Work on tasks yourself',
    verbs: verbTable({
      claim: { summary: 'take a task that no executor runs', load: () => import('./verbs/claim.ts') },
      heartbeat: { summary: 'renew the lease of a claimed task', load: () => import('./verbs/heartbeat.ts') },
      release: { summary: 'release a claimed task', load: () => import('./verbs/release.ts') },
      complete: { summary: 'complete a task that no executor runs', load: () => import('./verbs/complete.ts') },
      fail: { summary: 'fail a task that no executor runs', load: () => import('./verbs/fail.ts') },
    }),
    examples: [['errand claim "#5" --as ada', 'take task 5 for Ada']],
  },
  {
    title: 'Share work with agents',
    verbs: verbTable({
      board: { summary: 'one list of work for agents and people', load: () => import('./verbs/board.ts') },
      task: { summary: 'tasks with a team of agents and a shared memory', load: () => import('./verbs/task.ts') },
      memory: { summary: 'facts that agents found, and their sources', load: () => import('./verbs/memory.ts') },
      mcp: { summary: 'serve the board and tasks to agents as tools', load: () => import('./verbs/mcp.ts') },
      hook: { summary: 'session hooks for coding agents', load: () => import('./verbs/hook.ts') },
    }),
    examples: [['errand board', 'show the board of this folder']],
  },
  {
    title: 'Look after the ledger and the shell',
    derived: 'ledger',
    verbs: verbTable({
      repl: { summary: 'commands, messages and JavaScript, line by line', load: () => import('./verbs/repl.ts') },
      ledger: { summary: 'copy, check or restore a whole ledger', load: () => import('./verbs/ledger.ts') },
      purge: { summary: 'delete tasks that were settled long ago', load: () => import('./verbs/purge.ts') },
      trust: { summary: 'allow opening a ledger that others can write', load: () => import('./verbs/trust.ts') },
      completion: {
        summary: 'print a script with which the TAB key completes errand',
        load: () => import('./verbs/completion.ts'),
      },
    }),
    examples: [['source <(errand completion bash)', 'complete verbs and options in this shell']],
  },
]

/** The verbs that have a module of their own. */
export const ownVerbs: VerbTable = tableOf(ownGroups)

/** All verbs, those of operations included. */
export async function allVerbGroups(): Promise<VerbGroup[]> {
  const { operationVerbs } = await import('./operation-verbs.ts')
  return ownGroups.map(({ derived, verbs, ...group }) => {
    return { ...group, verbs: derived === undefined ? verbs : { ...verbs, ...operationVerbs(derived) } }
  })
}

export async function allVerbs(): Promise<VerbTable> {
  return tableOf(await allVerbGroups())
}

function tableOf(groups: readonly VerbGroup[]): VerbTable {
  return Object.assign({}, ...groups.map(({ verbs }) => verbs))
}
