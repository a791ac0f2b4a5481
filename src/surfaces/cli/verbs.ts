// The verbs by name. Each is loaded when it is called: a command that only lists tasks should not wait for a plan
// parser.
import type { VerbTable } from './verb.ts'

export const verbs: VerbTable = {
  run: {
    summary: 'run a plan to its end, or go on with it',
    load: async () => (await import('./verbs/run.ts')).runVerb,
  },
  ask: {
    summary: 'give an agent a goal, and work on it here',
    load: async () => (await import('./verbs/ask.ts')).askVerb,
  },
  chat: {
    summary: 'talk with agents, line by line',
    load: async () => (await import('./verbs/chat.ts')).chatVerb,
  },
  repl: {
    summary: 'commands, messages and JavaScript, line by line',
    load: async () => (await import('./verbs/repl.ts')).replVerb,
  },
  send: { summary: 'tell a task something', load: async () => (await import('./verbs/send.ts')).sendVerb },
  add: { summary: 'create one task', load: async () => (await import('./verbs/add.ts')).addVerb },
  ps: { summary: 'list tasks', load: async () => (await import('./verbs/ps.ts')).psVerb },
  show: { summary: 'everything about a task', load: async () => (await import('./verbs/show.ts')).showVerb },
  tree: { summary: 'tasks and what is in them', load: async () => (await import('./verbs/tree.ts')).treeVerb },
  logs: { summary: 'output and messages of a task', load: async () => (await import('./verbs/logs.ts')).logsVerb },
  why: { summary: 'why a task does not run', load: async () => (await import('./verbs/why.ts')).whyVerb },
  pause: { summary: 'stop a running task for now', load: async () => (await import('./verbs/pause.ts')).pauseVerb },
  resume: { summary: 'let a paused task run again', load: async () => (await import('./verbs/resume.ts')).resumeVerb },
  cancel: {
    summary: 'stop a task and all below it for ever',
    load: async () => (await import('./verbs/cancel.ts')).cancelVerb,
  },
  retry: {
    summary: 'give a failed task a new attempt',
    load: async () => (await import('./verbs/retry.ts')).retryVerb,
  },
  answer: {
    summary: 'answer the question of a task',
    load: async () => (await import('./verbs/answer.ts')).answerVerb,
  },
  claim: {
    summary: 'take a task that no executor runs',
    load: async () => (await import('./verbs/claim.ts')).claimVerb,
  },
  heartbeat: {
    summary: 'say that you still work on a claimed task',
    load: async () => (await import('./verbs/heartbeat.ts')).heartbeatVerb,
  },
  release: {
    summary: 'let go of a claimed task',
    load: async () => (await import('./verbs/release.ts')).releaseVerb,
  },
  complete: {
    summary: 'complete a task that is worked on from outside',
    load: async () => (await import('./verbs/complete.ts')).completeVerb,
  },
  fail: {
    summary: 'fail a task that is worked on from outside',
    load: async () => (await import('./verbs/fail.ts')).failVerb,
  },
  block: {
    summary: 'let a task come after others',
    load: async () => (await import('./verbs/block.ts')).blockVerb,
  },
  unblock: {
    summary: 'let a task go on without others',
    load: async () => (await import('./verbs/unblock.ts')).unblockVerb,
  },
  task: {
    summary: 'tasks that several agents work on with one memory',
    load: async () => (await import('./verbs/task.ts')).taskVerb,
  },
  memory: {
    summary: 'what agents found out, and where it comes from',
    load: async () => (await import('./verbs/memory.ts')).memoryVerb,
  },
  board: {
    summary: 'one list of work for agents and people',
    load: async () => (await import('./verbs/board.ts')).boardVerb,
  },
  serve: {
    summary: 'work on a ledger, and serve it over HTTP with a page',
    load: async () => (await import('./verbs/serve.ts')).serveVerb,
  },
  inspect: {
    summary: 'watch tasks in the browser, or with an inspector',
    load: async () => (await import('./verbs/inspect.ts')).inspectVerb,
  },
  mcp: {
    summary: 'serve the board and tasks to agents, as tools',
    load: async () => (await import('./verbs/mcp.ts')).mcpVerb,
  },
  hook: {
    summary: 'what coding agents call when a session begins or ends',
    load: async () => (await import('./verbs/hook.ts')).hookVerb,
  },
  limit: {
    summary: 'how many tasks may run at once, in all processes',
    load: async () => (await import('./verbs/limit.ts')).limitVerb,
  },
  purge: {
    summary: 'remove what has been settled for long',
    load: async () => (await import('./verbs/purge.ts')).purgeVerb,
  },
  rm: { summary: 'delete tasks', load: async () => (await import('./verbs/rm.ts')).rmVerb },
  graph: {
    summary: 'a Mermaid diagram of tasks, a plan, or a lifecycle',
    load: async () => (await import('./verbs/graph.ts')).graphVerb,
  },
}
