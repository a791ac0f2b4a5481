// Rules about boards and mail.
import { sql } from '../statement.ts'
import { type Check, statementCheck } from './rule.ts'

const nextNumber = statementCheck(
  {
    name: 'board-numbers',
    explains: 'The next number of a board is higher than all numbers on it, because no number is assigned twice.',
  },
  sql`select board.name as subject, board.next_number as next, numbered.highest
    from board join (select board, max(number) as highest from board_task group by board) as numbered
      on numbered.board = board.name
    where board.next_number <= numbered.highest`,
  ({ next, highest }) => `Its next number is ${next}, and it has a task with the number ${highest}.`,
)

const numbered = statementCheck(
  {
    name: 'board-tasks',
    explains:
      'Each task that a board of all tasks has considered has a number on it, because the board looks for new tasks only after the last one that it has considered.',
  },
  sql`select task.id as subject, board.name as board, board.seen_seq as seen, task.seq
    from board cross join task
    where board.parent_id is null and task.seq <= board.seen_seq and task.deleted_at is null
      and not exists (select 1 from board_task where board_task.task_id = task.id and board_task.board = board.name)`,
  ({ board, seen, seq }) =>
    `It is task ${seq} of the ledger and has no number on the board ${board}, which has considered ${seen}.`,
)

const verdicts = statementCheck(
  {
    name: 'mail-verdict',
    explains:
      'A request has the verdict of its answer, because both are written in one transaction and a verdict never changes.',
  },
  sql`select request.id as subject, request.verdict as says, answer.verdict as found, answer.id as answer
    from mail as answer join mail as request on request.request_id = answer.request_id and request.kind = 'request'
    where answer.kind = 'response' and request.verdict <> answer.verdict`,
  ({ says, found, answer }) => `The verdict of the request is ${says}, and its answer ${answer} says ${found}.`,
)

export const boardChecks: readonly Check[] = [nextNumber, numbered, verdicts]
