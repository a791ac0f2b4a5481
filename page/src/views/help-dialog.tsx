// The help dialog: keys and state symbols.

import { stateLooks, taskStatuses } from '../model/lifecycle.ts'
import { Dialog, StateBadge } from './elements.tsx'

const keys: ReadonlyArray<[string, string]> = [
  ['j k ↓ ↑', 'next and previous task'],
  ['→ ←', 'unfold and fold, into and out of a family'],
  ['Home End PgUp PgDn', 'through the list'],
  ['Enter', 'open the task'],
  ['Esc', 'close a dialog, leave the search, back to all tasks'],
  ['/', 'search'],
  ['n', 'create a task'],
  ['+ − 0', 'zoom a timeline that has the focus, show all of it'],
  ['Ctrl or Cmd and the wheel', 'zoom the timeline under the pointer'],
  ['?', 'this help'],
]

const meanings: Record<string, string> = {
  submitted: 'has not run yet',
  working: 'runs, or is worked on from outside',
  paused: 'paused; resume continues it',
  input_required: 'asks a person and waits for the answer',
  waiting: 'waits for a time, for other tasks, or for a slot',
  completed: 'done, permanently',
  failed: 'did not succeed; retry starts a new attempt',
  canceled: 'canceled, permanently',
}

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Help" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h2>States</h2>
      <dl class="keys">
        {taskStatuses.map((status) => (
          <div key={status}>
            <dt>
              <StateBadge status={status} />
            </dt>
            <dd>{meanings[status] ?? stateLooks[status].word}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
