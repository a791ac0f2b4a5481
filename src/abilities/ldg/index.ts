// The abilities of the records of the ledger, one file each. This list alone puts them on the bus and makes their types known.
import { ldgCallList } from './call-list.ts'
import { ldgCallSave } from './call-save.ts'
import { ldgMsgList } from './msg-list.ts'
import { ldgMsgSave } from './msg-save.ts'
import { ldgTaskGet } from './task-get.ts'
import { ldgTaskQuery } from './task-query.ts'
import { ldgTaskSave } from './task-save.ts'

export const ldgAbilities = [
  ldgCallList,
  ldgCallSave,
  ldgMsgList,
  ldgMsgSave,
  ldgTaskGet,
  ldgTaskQuery,
  ldgTaskSave,
] as const
