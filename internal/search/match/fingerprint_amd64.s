#include "textflag.h"

// STEP joins into Y15 the groups that have the byte at offset(SI)(BX*1):
// the low half is looked up in lo, the high half in hi.
#define STEP(offset, lo, hi) \
	VMOVDQU offset(SI)(BX*1), Y12 \
	VPSRLW  $4, Y12, Y13          \
	VPAND   Y0, Y12, Y12          \
	VPAND   Y0, Y13, Y13          \
	VPSHUFB Y12, lo, Y12          \
	VPSHUFB Y13, hi, Y13          \
	VPAND   Y12, Y15, Y15         \
	VPAND   Y13, Y15, Y15

// func scanPrints(text *byte, n int, tables *prints, found *block) (at int, mask uint32)
TEXT ·scanPrints(SB), NOSPLIT, $0-44
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ tables+16(FP), DX
	MOVQ found+24(FP), DI

	VMOVDQU 0(DX), Y1
	VMOVDQU 32(DX), Y2
	VMOVDQU 64(DX), Y3
	VMOVDQU 96(DX), Y4
	VMOVDQU 128(DX), Y5
	VMOVDQU 160(DX), Y6

	// Y0 keeps the low half of each byte; Y7 is zero, Y8 all ones.
	MOVQ         $0x0f0f0f0f0f0f0f0f, AX
	VMOVQ        AX, X0
	VPBROADCASTQ X0, Y0
	VPXOR        Y7, Y7, Y7
	VPCMPEQB     Y8, Y8, Y8

	// CX becomes the last place where 32 fit.
	SUBQ $32, CX
	XORQ BX, BX

next:
	VMOVDQA Y8, Y15
	STEP(0, Y1, Y2)
	STEP(1, Y3, Y4)
	STEP(2, Y5, Y6)
	VPTEST  Y15, Y15
	JNZ     hit
	CMPQ    BX, CX
	JGE     none
	ADDQ    $32, BX
	CMPQ    BX, CX
	JLE     next

	// The last 32 overlap those before.
	MOVQ CX, BX
	JMP  next

hit:
	VMOVDQU   Y15, (DI)
	VPCMPEQB  Y7, Y15, Y12
	VPMOVMSKB Y12, AX
	NOTL      AX
	VZEROUPPER
	MOVQ      BX, at+32(FP)
	MOVL      AX, mask+40(FP)
	RET

none:
	VZEROUPPER
	MOVQ $-1, at+32(FP)
	MOVL $0, mask+40(FP)
	RET
