// `errand hook`: the commands that a coding agent runs when a session starts or ends.
import { misuse } from '../../terminal/arguments.ts'
import { taskVariables } from '../hook-call.ts'
import { defineVerb, verbTable } from '../verb.ts'

const hookVerbs = verbTable({
  'session-start': {
    summary: 'print the context of a new session: its task, or the board',
    load: () => import('./hook/sessions.ts'),
  },
  'session-end': { summary: 'record the end of a session in its task', load: () => import('./hook/sessions.ts') },
  install: {
    summary: 'print or write the settings with which a coding agent runs these hooks',
    load: () => import('./hook/install.ts'),
  },
})

export const hook = defineVerb({
  usage: `hook ${Object.keys(hookVerbs).join('|')}`,
  help: `Hooks for coding agents. The task of a session is the first existing task that one of ${taskVariables.join(', ')} names. session-start and session-end always exit with 0 and never create a ledger; they report errors only with ERRAND_DEBUG=1.`,
  positionals: { max: 0 },
  verbs: hookVerbs,
  async run() {
    throw misuse(
      `The name of the hook is missing: ${Object.keys(hookVerbs).join(', ')}. "errand help hook" describes them.`,
    )
  },
})
